/** Two people open the live gate, production decides, and one of them stops it. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createKey } from '../../server/src/admin/manage-keys.ts'
import { isGateOpen } from '../../server/src/store/control/live-gate.ts'
import { activateDocument } from '../../server/tests/activate-document.ts'
import { byService } from '../../server/tests/acts.ts'
import { PASSWORD, signedInOperator } from '../../server/tests/console-client.ts'
import { sandboxPolicy } from '../../server/tests/sandbox-policy.ts'
import type { Answer } from '../../server/tests/test-service.ts'
import { assertAccessible, assertAccessibleEverywhere, openConsole, settle, untilEqual } from './browser.ts'

const testConsole = await openConsole()
const { api, organizationId, problems } = testConsole
const { control } = api.service.installation.storage
const GRACE = 'grace@fjordlend.example'

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const production = { environment: 'production' } as const
const { key } = await createKey(api.service.installation, byService(organizationId, 'production'), {
  name: 'Checkout',
  scopes: ['entities:write', 'decisions:write'],
  expiresAt: null,
})

/** Calls the production API as a customer does, over HTTP. */
function post(path: string, body: object): Promise<Answer> {
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  return api.request('production', path, { method: 'POST', key, headers, body })
}

/** The answer of production's underwriting endpoint, and the code of its refusal. */
async function underwrite(entityId: string): Promise<string> {
  const { status, body } = await post('/v1/underwrite', { entity_id: entityId, product: 'marketplace_access' })
  return status === 201 ? `201 ${body.environment}` : `${status} ${body.error.code}`
}

const OPEN = '201 production'
const CLOSED = '403 live_underwriting_not_enabled'

async function approve(tab: Page, reason: string): Promise<void> {
  await tab.getByLabel('Why do you approve?').fill(reason)
  await tab.getByRole('button', { name: /^Approve/ }).click()
}

test('the sandbox explains that it has no gate, and leads to the one of production', async () => {
  const tab = await testConsole.open('live-gate')
  await tab.getByRole('link', { name: 'Open the gate of production' }).click()
  await tab.waitForURL('**/production/live-gate')
  await tab.getByText('Production refuses to underwrite').waitFor()
  await tab.close()
})

test('without an active policy the page offers no approval and says what is missing', async () => {
  const tab = await testConsole.open('live-gate', production)
  await tab.getByText('Approvals are refused until a policy is active in production.').waitFor()
  assert.equal(await tab.getByRole('button', { name: /^Approve/ }).count(), 0)
  await tab.getByText(/Only Ben Ode is owner or admin/).waitFor()
  await tab.close()
})

test('two people open the gate, each with a reason, and one closes it at once', async () => {
  await activateDocument(
    api.service.installation,
    { ...sandboxPolicy().document, version: 'live-1' },
    { organizationId, environment: 'production' },
  )
  await signedInOperator(api, { organizationId, email: GRACE, role: 'admin' })
  const entity = await post('/v1/entities', { external_id: 'first', type: 'person' })
  assert.equal(entity.status, 201, entity.text)
  assert.equal(await underwrite(entity.body.id), CLOSED)
  const ben = await testConsole.open('live-gate', production)
  await ben.getByText('live-1').waitFor()
  await approve(ben, 'Policy and tests read.')
  await ben.getByText('You approved. Another owner or admin has to give the second approval.').waitFor()
  await assertAccessible(ben, 'the gate after one approval')
  // Asked of the database: underwriting answers by what the node read up to half a second before.
  assert.equal(await isGateOpen(control, organizationId), false, 'one approval opens nothing')
  assert.equal(await underwrite(entity.body.id), CLOSED)

  const grace = await testConsole.openSignedOut('/sign-in')
  await grace.getByLabel('E-mail').fill(GRACE)
  await grace.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await grace.getByRole('button', { name: 'Sign in', exact: true }).click()
  await grace.waitForURL(`**/${organizationId}/**`)
  await grace.goto(`${testConsole.url}/${organizationId}/production/live-gate`)
  await settle(grace)
  await approve(grace, 'Checklist read.')
  await grace.getByText('Production decides.', { exact: true }).waitFor()
  assert.equal(await isGateOpen(control, organizationId), true)
  await untilEqual(() => underwrite(entity.body.id), OPEN)
  await ben.reload()
  await ben.getByText('Production decides.', { exact: true }).waitFor()

  await ben.getByRole('button', { name: 'Stop underwriting' }).click()
  const stop = ben.getByRole('button', { name: 'Stop underwriting now' })
  await ben.getByLabel('Why?').fill('Defaults are rising.')
  assert.equal(await stop.isDisabled(), true, 'the word has to be typed')
  await ben.getByLabel(/to confirm/).fill('close')
  await assertAccessible(ben, 'the stop dialog')
  await stop.click()
  await ben.getByText('Production refuses to underwrite').waitFor()
  await untilEqual(() => underwrite(entity.body.id), CLOSED)
  await grace.close()
  await ben.close()
})

test('all of it is on the audit log, with who and why', async () => {
  const page = { organizationId, trailId: organizationId, beforeSeq: undefined, limit: 100 }
  const entries = (await api.service.installation.stores.production.auditLog.trail(page)).reverse()
  assert.deepEqual(
    entries
      .filter(({ type }) => type.startsWith('live_gate.'))
      .map(({ type, actor_type, data }) => [type, actor_type, JSON.parse(data).reason]),
    [
      ['live_gate.approved', 'operator', 'Policy and tests read.'],
      ['live_gate.approved', 'operator', 'Checklist read.'],
      ['live_gate.closed', 'operator', 'Defaults are rising.'],
      ['live_gate.approval_withdrawn', 'operator', undefined],
      ['live_gate.approval_withdrawn', 'operator', undefined],
    ],
  )
})

test('the page is accessible in both themes and at both widths', () =>
  assertAccessibleEverywhere(testConsole, 'live-gate', production))
