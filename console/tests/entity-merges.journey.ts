/** Two people merge the two entities of one applicant, see that they are read as one, and tell them apart again. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createKey } from '../../server/src/admin/manage-keys.ts'
import { SCOPES } from '../../server/src/security/scopes.ts'
import { byService } from '../../server/tests/acts.ts'
import { PASSWORD, signedInOperator } from '../../server/tests/console-client.ts'
import { assertAccessible, assertAccessibleEverywhere, openConsole, settle } from './browser.ts'

const testConsole = await openConsole()
const { api, organizationId, problems } = testConsole
const GRACE = 'grace@fjordlend.example'

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

async function applicant(external_id: string, display_name: string): Promise<string> {
  const { id } = await post('/v1/entities', { external_id, display_name, type: 'person' })
  await post(`/v1/entities/${id}/identity-links`, {
    identifier: { type: 'phone', value: '+49 431 5550188' },
    verification: { status: 'verified' },
  })
  return id
}

const anna = await applicant('customer-21', 'Anna Lindqvist')
const again = await applicant('customer-88', 'A. Lindqvist')

async function decide(entityId: string): Promise<string> {
  return (await post('/v1/underwrite', { entity_id: entityId, product: 'marketplace_access' })).id
}

/** The members that a new decision names. */
async function readTogether(entityId: string): Promise<string[] | undefined> {
  const id = await decide(entityId)
  const { facts } = (await api.service.installation.stores.sandbox.decisions.recorded(organizationId, id))!
  return JSON.parse(facts!).merged
}

const duplicates = (tab: Page) =>
  tab.locator('section').filter({ has: tab.getByRole('heading', { name: 'Duplicates' }) })

const entityPath = (id: string) => `/${organizationId}/sandbox/entities/${id}`

async function openAsGrace(): Promise<Page> {
  await signedInOperator(api, { organizationId, email: GRACE, role: 'reviewer' })
  const tab = await testConsole.openSignedOut('/sign-in')
  await tab.getByLabel('E-mail').fill(GRACE)
  await tab.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
  await tab.waitForURL(`**/${organizationId}/**`)
  await tab.goto(`${testConsole.url}/${organizationId}/sandbox/entities/${anna}`)
  await settle(tab)
  return tab
}

async function giveReason(tab: Page, reason: string, act: string): Promise<void> {
  const dialog = tab.getByRole('dialog')
  await dialog.getByLabel('Why?').fill(reason)
  await dialog.getByRole('button', { name: act, exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
}

test('two people merge the entities of one applicant, and tell them apart again', async () => {
  const ben = await testConsole.open(`entities/${anna}`)
  const candidate = duplicates(ben).getByRole('listitem').filter({ hasText: 'has an identifier of this one' })
  await candidate.getByText('A. Lindqvist').waitFor()
  await candidate.getByRole('button', { name: 'Merge' }).click()
  await assertAccessible(ben, 'the dialog of a merge')
  await giveReason(ben, 'Same passport.', 'Merge')
  await duplicates(ben).getByText('Another person has to confirm it.').waitFor()
  assert.equal(await duplicates(ben).getByRole('button', { name: 'Confirm' }).count(), 0, 'not by the same person')
  assert.equal(await readTogether(anna), undefined)

  const grace = await openAsGrace()
  await duplicates(grace).getByText('“Same passport.” Ben Ode').waitFor()
  await duplicates(grace).getByRole('button', { name: 'Confirm' }).click()
  await giveReason(grace, 'Compared the scans.', 'Merge')
  await duplicates(grace).getByText('merged with this one').waitFor()
  assert.deepEqual(await readTogether(again), [anna, again])
  await assertAccessibleEverywhere(testConsole, `entities/${anna}`)

  const merged = await decide(again)
  const shown = await testConsole.open(`decisions/${merged}`)
  const verdict = shown.getByRole('region', { name: 'Verdict' })
  await verdict.getByText('Made from the facts of 2 merged entities: Anna Lindqvist, A. Lindqvist').waitFor()
  assert.equal(await verdict.getByRole('link', { name: 'Anna Lindqvist' }).getAttribute('href'), entityPath(anna))
  await assertAccessibleEverywhere(testConsole, `decisions/${merged}`)

  await duplicates(grace).getByRole('button', { name: 'Tell apart' }).click()
  await giveReason(grace, 'Another birth date.', 'Tell apart')
  await ben.reload()
  await duplicates(ben).getByRole('button', { name: 'Confirm' }).click()
  await giveReason(ben, 'Seen.', 'Tell apart')
  await candidate.waitFor()
  assert.equal(await readTogether(again), undefined)
  await shown.goto(`${testConsole.url}/${organizationId}/sandbox/decisions/${await decide(again)}`)
  await verdict.getByText('marketplace access').waitFor()
  assert.equal(await verdict.getByText('merged entities').count(), 0)
  await shown.close()
  await grace.close()
  await ben.close()
})

test('an entity is merged with one that is named by its external id, and what cannot be is refused', async () => {
  await post('/v1/entities', { external_id: 'firm-1', display_name: 'Lindqvist AB', type: 'business' })
  const tab = await testConsole.open(`entities/${again}`)
  await duplicates(tab).getByLabel('Merge with').fill('firm-1')
  await duplicates(tab).getByRole('button', { name: 'Merge…' }).click()
  const dialog = tab.getByRole('dialog')
  await dialog.getByLabel('Why?').fill('A mistake.')
  await dialog.getByRole('button', { name: 'Merge', exact: true }).click()
  await tab
    .getByText(/different types/)
    .first()
    .waitFor()
  await tab.close()
})
