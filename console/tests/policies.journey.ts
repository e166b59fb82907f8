/** A cutoff changes: written, tested and backtested by one person, approved by another, active, and rolled back. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createKey } from '../../server/src/admin/manage-keys.ts'
import { SCOPES } from '../../server/src/security/scopes.ts'
import { byService } from '../../server/tests/acts.ts'
import { PASSWORD, signedInOperator } from '../../server/tests/console-client.ts'
import { holdBacktests } from '../../server/tests/hold-backtests.ts'
import { copyWithOutcomes } from '../../server/tests/known-outcomes.ts'
import { personas } from '../../server/tests/personas.ts'
import { fillPool } from '../../server/tests/pool-tasks.ts'
import { sandboxPolicy, sandboxPolicySource } from '../../server/tests/sandbox-policy.ts'
import {
  assertAccessible,
  assertAccessibleEverywhere,
  changeTheme,
  openConsole,
  settle,
  untilEqual,
} from './browser.ts'

const testConsole = await openConsole()
const { api, organizationId, problems } = testConsole
const GRACE = 'grace@fjordlend.example'
const VERSION = 'sandbox-policy-v1-2'
const TESTS = sandboxPolicy().document.tests.length
const ALL_PASS = `${TESTS} of ${TESTS} pass`

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const { key } = await createKey(api.service.installation, byService(organizationId), {
  name: 'Checkout',
  scopes: SCOPES,
  expiresAt: null,
})

async function post(path: string, body: object) {
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  const answer = await api.request('sandbox', path, { method: 'POST', key, headers, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

const prime = personas(new Date().toISOString())[0]!
const applicant = (await post('/v1/entities', prime.entity)).id as string
for (const link of prime.identityLinks) await post(`/v1/entities/${applicant}/identity-links`, link)
for (const consent of prime.consents) await post(`/v1/entities/${applicant}/consents`, consent)
await post(`/v1/entities/${applicant}/transactions`, { transactions: prime.transactions })
const underwrite = () => post('/v1/underwrite', { entity_id: applicant, ...prime.underwrite })
const first = await underwrite()
const decidingVersion = async () => (await underwrite()).policy_version as string

const withCutoff = (cutoff: number) =>
  sandboxPolicySource()
    .replace('version: sandbox-policy-v1', `version: ${VERSION}`)
    .replace('cutoff: 550', `cutoff: ${cutoff}`)

/** Replaces the text in the editor by pasting. */
async function write(tab: Page, text: string): Promise<void> {
  await tab.getByRole('textbox', { name: 'The text of the policy' }).click()
  await tab.keyboard.press('ControlOrMeta+a')
  await tab.evaluate((pasted) => navigator.clipboard.writeText(pasted), text)
  await tab.keyboard.press('ControlOrMeta+v')
}

async function signInAsGrace(): Promise<Page> {
  await signedInOperator(api, { organizationId, email: GRACE, role: 'policy_approver' })
  const tab = await testConsole.openSignedOut('/sign-in')
  await tab.getByLabel('E-mail').fill(GRACE)
  await tab.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
  await tab.waitForURL(`**/${organizationId}/**`)
  return tab
}

async function openPolicy(tab: Page, version: string): Promise<void> {
  await tab.goto(`${testConsole.url}/${organizationId}/sandbox/policies/${version}`)
  await tab.getByRole('heading', { name: version, exact: true }).waitFor()
}

test('an author changes a cutoff, sees its tests fail and pass, and proposes it', async () => {
  const ben = await testConsole.open('policies')
  await ben.getByRole('link', { name: 'Write a version' }).click()
  await ben.getByRole('textbox', { name: 'The text of the policy' }).waitFor()
  const propose = ben.getByRole('button', { name: 'Propose', exact: true })

  await write(ben, withCutoff(550).replace('cutoff: 550', 'cutof: 550'))
  await ben.getByRole('heading', { name: 'Problems' }).waitFor()
  assert.equal(await propose.isDisabled(), true)

  await write(ben, withCutoff(700))
  await ben.getByLabel('fails').first().waitFor()
  assert.equal(await propose.isDisabled(), true, 'a policy whose tests fail cannot be proposed')

  await write(ben, withCutoff(551))
  await ben.getByText(ALL_PASS).waitFor()
  await ben.reload()
  await ben.getByText('Draft kept in this browser').waitFor()
  await ben.getByText(ALL_PASS).waitFor()
  await ben
    .getByText(/cutoff 550 → 551/)
    .first()
    .waitFor()
  await ben.getByText(/1 decided again, 0 changed/).waitFor()
  await assertAccessible(ben, 'the editor')
  await propose.click()
  await ben.getByLabel('Why?').fill('Loss at the cutoff is above plan.')
  await ben.getByRole('button', { name: 'Propose', exact: true }).last().click()
  await ben.waitForURL(`**/policies/${VERSION}`)
  await ben.getByText('Proposed, waiting for approval').waitFor()
  await ben.getByText('wrote it, may not').waitFor()
  assert.equal(await ben.getByRole('button', { name: `Approve ${VERSION}` }).count(), 0)

  await ben.getByRole('link', { name: 'Try in playground' }).click()
  await ben.waitForURL(`**/playground?a=${VERSION}`)
  await ben.getByRole('combobox', { name: 'Policy A' }).or(ben.getByLabel('Policy A')).first().waitFor()
  await ben.close()
})

test('a text that finds too many others waiting is said to be unchecked, and is checked when there is room', async () => {
  const ben = await testConsole.open('policies/new?from=sandbox-policy-v1')
  await ben.getByText(ALL_PASS).waitFor()
  const release = await fillPool(api.service.installation.threads, organizationId)
  await write(ben, withCutoff(553))
  await ben.getByRole('status').getByText('Not checked').waitFor({ timeout: 60_000 })
  const alert = ben.getByRole('alert').filter({ hasText: 'This text was not checked' })
  await alert.getByText(/16 checks and dry runs of policies wait here for your organization already/).waitFor()
  await assertAccessible(ben, 'the editor with a text that was not checked')
  await release()
  await alert.getByRole('button', { name: 'Try again' }).click()
  await ben.getByText(ALL_PASS).waitFor()
  await ben.getByRole('button', { name: 'discard', exact: true }).click()
  await ben.getByRole('button', { name: 'Discard draft' }).click()
  await ben.close()
})

test('a draft belongs to one version and environment, and is gone once it was discarded', async () => {
  const editor = 'policies/new?from=sandbox-policy-v1'
  const ben = await testConsole.open(editor)
  const kept = ben.getByText('Draft kept in this browser')
  await ben.getByText(ALL_PASS).waitFor()
  assert.equal(await kept.count(), 0, 'a draft that was proposed is not kept')
  await write(ben, withCutoff(552))
  await kept.waitFor()
  const another = await testConsole.open(`policies/new?from=${VERSION}`)
  await another.getByText(ALL_PASS).waitFor()
  assert.equal(await another.getByText('Draft kept in this browser').count(), 0)
  await another.close()

  await ben.reload()
  await ben
    .getByText(/cutoff 550 → 552/)
    .first()
    .waitFor()
  await ben.getByRole('button', { name: 'discard' }).click()
  await assertAccessible(ben, 'the dialog that discards a draft')
  await ben.getByRole('button', { name: 'Discard draft' }).click()
  await kept.waitFor({ state: 'detached' })
  await ben.getByText('cutoff: 552').waitFor({ state: 'detached' })
  await ben.reload()
  await ben.getByText(ALL_PASS).waitFor()
  assert.equal(await kept.count(), 0)
  await ben.close()
})

test('a backtest is cancelled with a reason while it runs, and leaves no result', async (context) => {
  const release = holdBacktests(api.service.installation.stores.sandbox)
  // A backtest that is held would keep the service from closing.
  context.after(release)
  const ben = await testConsole.open(`policies/${VERSION}?tab=backtest`)
  await ben.getByRole('button', { name: 'Run backtest' }).click()
  await ben.getByRole('button', { name: 'Cancel the backtest' }).click()
  const dialog = ben.getByRole('dialog', { name: 'Cancel the backtest' })
  await dialog.getByLabel(/Why/).fill('The wrong period.')
  await assertAccessible(ben, 'the dialog that cancels a backtest')
  await dialog.getByRole('button', { name: 'Cancel the backtest' }).click()
  await ben.getByText('The last backtest has no result. It was cancelled.').waitFor()
  release()
  await ben.getByRole('button', { name: 'Run backtest' }).waitFor()
  await settle(ben)
  assert.equal(await ben.getByRole('heading', { name: 'Verdict migration' }).count(), 0)
  await ben.close()
  const log = await testConsole.open('audit-log?type=policy.backtest_cancelled')
  await log.getByText('The wrong period.').waitFor()
  await log.close()
})

test('another person sees the backtest, approves and activates it, and the API answers with it', async () => {
  const grace = await signInAsGrace()
  await openPolicy(grace, VERSION)
  await grace.getByRole('tab', { name: 'Backtest' }).click()
  await grace.getByRole('button', { name: 'Run backtest' }).click()
  await grace.getByRole('heading', { name: 'What would go bad' }).waitFor()
  await grace.getByText('Too few outcomes are known to say whether more would go bad.').first().waitFor()
  await grace.getByRole('heading', { name: 'Verdict migration' }).waitFor()
  await grace.getByLabel('Your comment').fill('Reviewers are ready.')
  await grace.getByRole('button', { name: 'Comment', exact: true }).click()
  await grace.getByText('Reviewers are ready.').last().waitFor()
  await grace.getByText('the newest backtest').first().waitFor()
  await grace.getByLabel('Why?').fill('Backtest and tests read.')
  await grace.getByRole('button', { name: `Approve ${VERSION}` }).click()
  await grace.getByText('Approved, not active').waitFor()
  assert.equal(await decidingVersion(), 'sandbox-policy-v1', 'an approval alone activates nothing')

  await grace.getByRole('button', { name: `Activate ${VERSION}` }).click()
  await grace.getByLabel('Why?').fill('Agreed in the risk meeting.')
  await assertAccessible(grace, 'the activation dialog')
  await grace
    .getByRole('button', { name: `Activate ${VERSION}` })
    .last()
    .click()
  await grace.getByText('Active', { exact: true }).waitFor()
  await untilEqual(decidingVersion, VERSION)
  const { policy_checksum } = await underwrite()
  await grace.getByRole('button', { name: `Copy ${policy_checksum}` }).waitFor()
  assert.notEqual(policy_checksum, first.policy_checksum)

  await openPolicy(grace, 'sandbox-policy-v1')
  await grace.getByRole('button', { name: 'Roll back to sandbox-policy-v1' }).click()
  await grace.getByLabel('Why?').fill('Approval rate fell.')
  await grace.getByRole('button', { name: 'Roll back to sandbox-policy-v1' }).last().click()
  await grace.getByText('Active', { exact: true }).waitFor()
  await untilEqual(decidingVersion, 'sandbox-policy-v1')
  assert.equal((await underwrite()).policy_checksum, first.policy_checksum)
  await grace.close()
})

test('the policy reads as a page, as text and as a difference', async () => {
  const ben = await testConsole.open(`policies/${VERSION}?tab=page`)
  await ben.getByRole('heading', { name: 'Scorecard', exact: true }).waitFor()
  await ben.getByRole('heading', { name: 'Products and prices' }).waitFor()
  await ben.getByText('551', { exact: true }).first().waitFor()
  await ben.getByRole('tab', { name: 'Text diff' }).click()
  await ben.getByText('cutoff: 551').first().waitFor()
  await settle(ben)
  await assertAccessible(ben, 'the text diff')
  await changeTheme(ben, 'dark')
  const collapsed = ben.getByText(/\d+ unchanged lines/).first()
  assert.equal(await collapsed.evaluate((bar) => getComputedStyle(bar).backgroundImage), 'none')
  assert.equal(await collapsed.evaluate((bar) => getComputedStyle(bar, '::before').content), 'none')
  await assertAccessible(ben, 'the text diff in the dark')
  await ben.close()
})

test('outcomes other than expected mark the active version, and a version that fits them is begun from the mark', async () => {
  const { installation } = api.service
  const database = installation.storage.environments.sandbox
  await copyWithOutcomes(database, { from: organizationId, to: organizationId, copies: 60, bad: 40 })
  const ben = await testConsole.open('overview')
  await ben.getByText(/expects .* of its credit to go bad/).waitFor()
  await assertAccessible(ben, 'the overview with a calibration that has parted')
  await ben.getByRole('link', { name: 'Open the calibration' }).click()
  await ben.getByRole('heading', { name: 'Expected and observed' }).waitFor()
  await assertAccessible(ben, 'a calibration')
  await ben.getByRole('link', { name: 'Write a calibrated version' }).click()
  // The line itself is further down than the editor draws.
  await ben.getByText('calibration_points').first().waitFor()
  await ben.close()
})

test('a backtest begins with whether more would go bad, and limits that it breaks keep it from being approved', async () => {
  const version = 'sandbox-policy-v1-limited'
  const text = sandboxPolicySource()
    .replace('version: sandbox-policy-v1', `version: ${version}`)
    .replace('  maturity_days: 0', '  maturity_days: 0\n  backtest_limits: { bad_ppm_max: 50000 }')
  const ben = await testConsole.open('policies/new?from=sandbox-policy-v1')
  await ben.getByText(ALL_PASS).waitFor()
  await write(ben, text)
  await ben.getByRole('button', { name: 'Propose', exact: true }).click()
  await ben.getByLabel('Why?').fill('No more than one in twenty may go bad.')
  await ben.getByRole('button', { name: 'Propose', exact: true }).last().click()
  await ben.waitForURL(`**/policies/${version}`)
  await ben.close()

  const grace = await testConsole.openSignedOut('/sign-in')
  await grace.getByLabel('E-mail').fill(GRACE)
  await grace.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await grace.getByRole('button', { name: 'Sign in', exact: true }).click()
  await grace.waitForURL(`**/${organizationId}/**`)
  await openPolicy(grace, version)
  await grace.getByRole('tab', { name: 'Backtest' }).click()
  await grace.getByRole('button', { name: 'Run backtest' }).click()
  await grace.getByText(/^No difference is shown: \d/).waitFor()
  await grace.getByText('A limit is broken: this version cannot be approved').waitFor()
  await grace.getByText(/Bad rate of what is approved .* at most 5\.0 % \(over by/).waitFor()
  await grace.getByText(/its newest backtest breaks a limit/).waitFor()
  await grace.getByLabel('Why?').fill('Read.')
  assert.equal(await grace.getByRole('button', { name: `Approve ${version}` }).isDisabled(), true)
  await assertAccessible(grace, 'a backtest with a broken limit')
  await grace.close()
})

for (const page of [
  'policies',
  `policies/${VERSION}`,
  `policies/${VERSION}?tab=page`,
  `policies/${VERSION}?tab=backtest`,
  `policies/${VERSION}?tab=calibration`,
])
  test(`${page} is accessible in both themes and at both widths`, () => assertAccessibleEverywhere(testConsole, page))
