/** Two people put a person on legal hold, lift the hold, and erase the person once nothing stands against it any more. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createKey } from '../../server/src/admin/manage-keys.ts'
import { SCOPES } from '../../server/src/security/scopes.ts'
import type { Role } from '../../server/src/store/control/operators.ts'
import { byService } from '../../server/tests/acts.ts'
import { PASSWORD, signedInOperator } from '../../server/tests/console-client.ts'
import { assertAccessible, assertAccessibleEverywhere, openConsole, settle } from './browser.ts'

const testConsole = await openConsole()
const { api, organizationId, problems } = testConsole
const GRACE = 'grace@fjordlend.example'
const REVIEWER = 'rob@fjordlend.example'

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const { key } = await createKey(api.service.installation, byService(organizationId), {
  name: 'Journey',
  scopes: SCOPES,
  expiresAt: null,
})

async function post(path: string, body: object) {
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  const answer = await api.request('sandbox', path, { method: 'POST', key, body, headers })
  assert.ok(answer.status < 300, answer.text)
  return answer.body
}

const person = { external_id: 'customer-31', display_name: 'Maria Lindqvist', type: 'person' }
const { id: maria } = await post('/v1/entities', person)
const asked = { entity_id: maria, product: 'default', requested_amount: 900, currency: 'EUR' }
const { id: decision, verdict } = await post('/v1/underwrite', asked)
assert.equal(verdict, 'manual_review')

const section = (tab: Page) =>
  tab.locator('section').filter({ has: tab.getByRole('heading', { name: 'Erasure and legal hold' }) })

async function openAs(email: string, role: Role): Promise<Page> {
  await signedInOperator(api, { organizationId, email, role })
  const tab = await testConsole.openSignedOut('/sign-in')
  await tab.getByLabel('E-mail').fill(email)
  await tab.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
  await tab.waitForURL(`**/${organizationId}/**`)
  await tab.goto(`${testConsole.url}/${organizationId}/sandbox/entities/${maria}`)
  await settle(tab)
  return tab
}

/** Presses a button of the section, says why, and confirms; an approval of an erasure asks for the name too. */
async function take(tab: Page, button: string, { reason, act, word }: { reason: string; act: string; word?: string }) {
  await section(tab).getByRole('button', { name: button }).click()
  const dialog = tab.getByRole('dialog')
  await dialog.getByLabel('Why?').fill(reason)
  if (word !== undefined) {
    assert.ok(await dialog.getByRole('button', { name: act, exact: true }).isDisabled(), 'not without the name')
    await dialog.getByLabel(/^Type/).fill(word)
  }
  await assertAccessible(tab, `the dialog “${button}”`)
  await dialog.getByRole('button', { name: act, exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
}

test('a person is erased by two people once no case, no credit and no legal hold stands against it', async () => {
  const ben = await testConsole.open(`entities/${maria}`)
  await section(ben)
    .getByText(`Not erased while the case cas_${decision.slice(4)} is open`)
    .waitFor()
  await section(ben).getByRole('link', { name: 'Open the case' }).waitFor()
  assert.equal(await section(ben).getByRole('button', { name: 'Erase…' }).count(), 0)

  await take(ben, 'Set hold…', { reason: 'Court file 12 O 345.', act: 'Set hold' })
  await section(ben).getByText('Another person has to approve it.').waitFor()
  assert.equal(await section(ben).getByRole('button', { name: 'Approve' }).count(), 0, 'not by the same person')
  const rob = await openAs(REVIEWER, 'reviewer')
  await section(rob).getByText('“Court file 12 O 345.” Ben Ode').waitFor()
  await take(rob, 'Approve', { reason: 'Asked by counsel.', act: 'Set hold' })
  await section(rob)
    .getByText(/^On legal hold/)
    .waitFor()
  await assertAccessibleEverywhere(testConsole, `entities/${maria}`)

  await take(rob, 'Lift hold…', { reason: 'The case is closed.', act: 'Lift hold' })
  await ben.reload()
  await take(ben, 'Approve', { reason: 'Seen the ruling.', act: 'Lift hold' })
  await post(`/v1/decisions/${decision}/reviews`, {
    verdict: 'decline',
    reason: 'Withdrawn by the applicant.',
    reviewer: { id: 'r-1', name: 'Ann' },
  })
  await rob.reload()
  await section(rob).getByText('Nothing stands against erasing this person.').waitFor()
  assert.equal(await section(rob).getByRole('button', { name: 'Erase…' }).count(), 0, 'a reviewer does not erase')
  await rob.close()

  await ben.reload()
  await take(ben, 'Erase…', { reason: 'Request 17.', act: 'Erase' })
  await take(ben, 'Withdraw', { reason: 'The wrong person.', act: 'Withdraw' })
  await take(ben, 'Erase…', { reason: 'Request 18.', act: 'Erase' })
  const grace = await openAs(GRACE, 'admin')
  await take(grace, 'Approve', { reason: 'Request 18: identity checked.', act: 'Erase', word: 'Maria Lindqvist' })
  await grace.waitForURL('**/sandbox/entities')
  await ben.goto(`${testConsole.url}/${organizationId}/sandbox/audit-log?type=entity.erased`)
  await ben.getByText('entity.erased').first().waitFor()
  const { status } = await api.request('sandbox', `/v1/entities/${maria}`, { key })
  assert.equal(status, 404)
  await grace.close()
  await ben.close()
})
