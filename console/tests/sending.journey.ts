/** What is said and kept follows what was sent: while a form is under way, after its answer was lost, and in other dialogs. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createKey } from '../../server/src/admin/manage-keys.ts'
import { byService } from '../../server/tests/acts.ts'
import { assertAccessible, settle, untilCount, untilEqual } from './browser.ts'
import { openConsoleBehindProxy, outage } from './cut-network.ts'
import { caseOpener } from './review-cases.ts'

const { testConsole, network } = await openConsoleBehindProxy()
const { api, organizationId, problems } = testConsole
const { sandbox } = api.service.installation.storage.environments

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const { undecided, reviewsOf } = await caseOpener(testConsole)
const drawer = (tab: Page) => tab.getByRole('complementary', { name: 'Case' })
const reasonOf = (tab: Page) => drawer(tab).getByRole('textbox', { name: 'Reason' })
const why = (tab: Page) => tab.getByRole('textbox', { name: 'Why?' })
const comment = (tab: Page) => tab.getByRole('textbox', { name: 'Your comment' })

async function openCase(tab: Page, name: string): Promise<void> {
  await tab.getByRole('row').filter({ hasText: name }).getByRole('link').click()
  await drawer(tab).getByRole('heading', { level: 2, name }).waitFor()
}

test('while a review is sent its fields are read only, and the toast says what was sent', async () => {
  const decision = await undecided('Sent Once', 6_000)
  const tab = await testConsole.open('review-queue')
  await openCase(tab, 'Sent Once')
  await tab.keyboard.press('a')
  await reasonOf(tab).fill('Known for years.')
  network.holdStatementWith('cases.decide')
  await tab.keyboard.press('Control+Enter')
  await untilEqual(() => reasonOf(tab).getAttribute('readonly'), '')
  await reasonOf(tab).focus()
  await tab.keyboard.type(' Or not.')
  const limit = drawer(tab).getByLabel('Limit in EUR')
  assert.equal(await limit.getAttribute('readonly'), '')
  assert.equal(await drawer(tab).getByRole('button', { name: 'Decline D' }).isDisabled(), true)
  await tab.keyboard.press('Escape')
  await tab.keyboard.press('d')
  await drawer(tab).getByRole('button', { name: 'Approve A', pressed: true }).waitFor()
  network.pass()
  await tab.getByText('Approved Sent Once for €6,000.').waitFor()
  assert.deepEqual(await reviewsOf(decision.id), [['approve', 6_000]])
  await tab.close()
})

test('a reviewer who goes to another case before the answer came stays there', async () => {
  for (const name of ['Answered Late', 'Gone To', 'Next After']) await undecided(name, 6_000)
  const tab = await testConsole.open('review-queue')
  await openCase(tab, 'Answered Late')
  await tab.keyboard.press('d')
  await reasonOf(tab).fill('No accounts were sent.')
  network.holdStatementWith('cases.decide')
  await tab.keyboard.press('Control+Enter')
  await untilEqual(() => reasonOf(tab).getAttribute('readonly'), '')
  await openCase(tab, 'Next After')
  network.pass()
  await tab.getByText('Declined Answered Late.').waitFor()
  await settle(tab)
  await drawer(tab).getByRole('heading', { level: 2, name: 'Next After' }).waitFor()
  await tab.close()
})

test('the words about an act are those of its object, also if its dialog was closed before the answer came', async () => {
  const tab = await testConsole.open('api-keys')
  await openDialog(tab, 'Journey', 'Disable')
  await why(tab).fill('It leaked.')
  network.holdStatementWith('api-keys.disable')
  await tab.getByRole('button', { name: 'Disable key' }).click()
  await untilEqual(() => why(tab).getAttribute('readonly'), '')
  await tab.keyboard.press('Escape')
  await untilCount(tab.getByRole('dialog'), 0)
  network.pass()
  await tab.getByText(/^Disabled “Journey” \(…\w{4}\)\.$/).waitFor()
  await tab.close()
})

async function openDialog(tab: Page, name: string, act: 'Disable' | 'Enable'): Promise<void> {
  await tab.getByRole('button', { name: `Actions for ${name} ending in` }).click()
  await tab.getByRole('menuitem', { name: `${act}…` }).click()
}

async function makeKeys(...names: string[]): Promise<void> {
  for (const name of names)
    await createKey(api.service.installation, byService(organizationId), {
      name,
      scopes: ['entities:read'],
      expiresAt: null,
    })
}

/** When a key was disabled; null while it works. */
async function disabledAt(name: string): Promise<unknown> {
  const rows = await sandbox.query('SELECT disabled_at FROM api_keys WHERE name = $1', [name])
  assert.equal(rows.length, 1)
  return rows[0]!.disabled_at
}

test('a draft whose answer was lost is not said to be unsent, and only its own dialog tries again', async () => {
  const tab = await testConsole.open('policies/sandbox-policy-v1')
  await comment(tab).fill('Sent, but was it heard?')
  network.refuseFromAnswerTo('policies.comment')
  await tab.getByRole('button', { name: 'Comment' }).click()
  await outage(tab).waitFor()
  network.pass()
  await tab.reload()
  await settle(tab)
  const notice = tab.getByRole('status').filter({ hasText: 'Your draft of' })
  await notice.waitFor()
  assert.match((await notice.textContent())!, /is back\. It was sent, but no answer came: it may have been done\./)
  assert.equal((await notice.textContent())!.includes('It was not sent'), false)
  await assertAccessible(tab, 'a draft without an answer')
  await tab.getByRole('button', { name: 'Try again: comment' }).click()
  await untilEqual(() => comment(tab).inputValue(), '')
  const rows = await sandbox.query("SELECT id FROM policy_comments WHERE body = 'Sent, but was it heard?'", [])
  assert.equal(rows.length, 1)
  await comment(tab).fill('Another one')
  await tab.reload()
  await settle(tab)
  assert.match((await notice.textContent())!, /is back\. It was not sent\./)
  await tab.close()
})

test('a dialog tries again only on the object whose answer is unknown', async () => {
  await makeKeys('First', 'Second')
  const tab = await testConsole.open('api-keys')
  await openDialog(tab, 'First', 'Disable')
  await why(tab).fill('It leaked.')
  network.refuse()
  await tab.getByRole('button', { name: 'Disable key' }).click()
  await tab.getByRole('button', { name: 'Try again: disable key' }).waitFor()
  network.pass()
  await untilCount(outage(tab), 0)
  await tab.getByRole('button', { name: 'Cancel' }).click()

  await openDialog(tab, 'Second', 'Disable')
  await why(tab).fill('It leaked, too.')
  await tab.getByRole('button', { name: 'Disable key', exact: true }).click()
  await tab.getByText(/^Disabled “Second”/).waitFor()

  await openDialog(tab, 'First', 'Disable')
  await tab.getByText(/It was sent, but no answer came/).waitFor()
  await tab.getByRole('button', { name: 'Try again: disable key' }).click()
  await tab.getByText(/^Disabled “First”/).waitFor()
  await tab.close()
})

test('the same words after another act on the object are a new act, not a retry of the one whose answer was lost', async () => {
  await makeKeys('Leaked Twice')
  const tab = await testConsole.open('api-keys')
  await openDialog(tab, 'Leaked Twice', 'Disable')
  await why(tab).fill('It leaked.')
  network.refuseFromAnswerTo('api-keys.disable')
  await tab.getByRole('button', { name: 'Disable key' }).click()
  await tab.getByRole('button', { name: 'Try again: disable key' }).waitFor()
  network.pass()
  await untilCount(outage(tab), 0)
  assert.notEqual(await disabledAt('Leaked Twice'), null, 'the server has disabled it')
  await tab.getByRole('button', { name: 'Cancel' }).click()
  await openDialog(tab, 'Leaked Twice', 'Enable')
  await why(tab).fill('A false alarm.')
  await tab.getByRole('button', { name: 'Enable key' }).click()
  await tab.getByText(/^Enabled “Leaked Twice”/).waitFor()

  await openDialog(tab, 'Leaked Twice', 'Disable')
  assert.equal(await why(tab).inputValue(), 'It leaked.')
  await tab.getByRole('button', { name: 'Disable key', exact: true }).click()
  await tab.getByText(/^Disabled “Leaked Twice”/).waitFor()
  assert.notEqual(await disabledAt('Leaked Twice'), null)
  await tab.close()
})
