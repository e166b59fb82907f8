/** What a reviewer wrote stays, read only, when the case was decided meanwhile: by a colleague, in part, or by a lost try. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, changeTheme, SIZES, THEMES, untilCount, untilEqual } from './browser.ts'
import { openConsoleBehindProxy, outage } from './cut-network.ts'
import { caseOpener } from './review-cases.ts'

const { testConsole, network } = await openConsoleBehindProxy()
const { api, problems } = testConsole

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const { key, ask, undecided, reviewsOf } = await caseOpener(testConsole)
const drawer = (tab: Page) => tab.getByRole('complementary', { name: 'Case' })
const reasonOf = (tab: Page) => drawer(tab).getByRole('textbox', { name: 'Reason' })
const conflict = (tab: Page) => drawer(tab).getByRole('alert')

async function openCase(name: string): Promise<Page> {
  const tab = await testConsole.open('review-queue')
  await tab.getByRole('row').filter({ hasText: name }).getByRole('link').click()
  await drawer(tab).getByRole('heading', { level: 2, name }).waitFor()
  return tab
}

/** A review of another program, which decides one request only. */
async function declineByApi(decisionId: string, reason: string): Promise<void> {
  const body = { verdict: 'decline', reviewer: { id: 'crm-1', name: 'Carla' }, reason }
  const answer = await api.request('sandbox', `/v1/decisions/${decisionId}/reviews`, { method: 'POST', key, body })
  assert.equal(answer.status, 201, answer.text)
}

test('a correction after a lost answer is kept, beside what was recorded of the first try', async () => {
  const decision = await undecided('Corrected', 6_000)
  const tab = await openCase('Corrected')
  await tab.keyboard.press('a')
  await reasonOf(tab).fill('Known for years.')
  network.refuseFromAnswerTo('cases.decide')
  await tab.keyboard.press('Control+Enter')
  await drawer(tab)
    .getByRole('button', { name: /^Try again: approve €6,000/ })
    .waitFor()
  await drawer(tab).getByLabel('Limit in EUR').fill('5000')
  await reasonOf(tab).fill('Known for years, but 5,000 is enough.')
  network.pass()
  await untilCount(outage(tab), 0)
  await conflict(tab).waitFor()
  const words = (await conflict(tab).textContent())!
  assert.match(words, /^You decided this just now, at \d\d:\d\d:\d\d: the first try had arrived/)
  assert.match(words, /You approved €6,000: “Known for years\.”/)
  assert.match(words, /What you changed since was not sent\.$/)
  assert.equal(await reasonOf(tab).inputValue(), 'Known for years, but 5,000 is enough.')
  assert.equal(await drawer(tab).getByLabel('Limit in EUR').inputValue(), '5000')
  assert.deepEqual(await reviewsOf(decision.id), [['approve', 6_000]])
  await assertAccessible(tab, 'a correction of what was recorded')
  await tab.reload()
  await conflict(tab).waitFor()
  assert.equal(await reasonOf(tab).inputValue(), 'Known for years, but 5,000 is enough.')
  await drawer(tab).getByRole('button', { name: 'Discard my text' }).click()
  await untilCount(conflict(tab), 0)
  await tab.close()
})

test('what was recorded to the letter is no conflict, though its answer was lost', async () => {
  await undecided('Recorded', 6_000)
  const tab = await openCase('Recorded')
  await tab.keyboard.press('c')
  await drawer(tab).getByRole('textbox', { name: 'Conditions' }).fill('Bring the accounts of 2025\n\nSign here')
  await drawer(tab).getByLabel('Limit in EUR').fill('5.500,00')
  await reasonOf(tab).fill('Enough with the accounts. ')
  network.refuseFromAnswerTo('cases.decide')
  await tab.keyboard.press('Control+Enter')
  await outage(tab).waitFor()
  network.pass()
  await drawer(tab).getByRole('region', { name: 'How it ended' }).waitFor()
  assert.equal(await conflict(tab).count(), 0)
  assert.equal(await reasonOf(tab).count(), 0)
  await tab.close()
})

test('a colleague who decided one of two requests is named with it, and the other one can be sent', async () => {
  const first = await undecided('In Part', 6_000)
  const second = await ask(first.entityId, 4_000)
  const tab = await openCase('In Part')
  const group = (number: number) => drawer(tab).getByRole('group', { name: `${number}. personal loan` })
  await group(1)
    .getByRole('button', { name: /^Approve/ })
    .click()
  await group(2)
    .getByRole('button', { name: /^Decline/ })
    .click()
  await reasonOf(tab).fill('One loan is enough.')
  await declineByApi(first.id, 'Withdrawn by phone.')
  await conflict(tab).waitFor()
  const words = (await conflict(tab).textContent())!
  assert.match(words, /^Carla \(through API key Journey\) decided 1 of 2 requests just now, at /)
  assert.match(words, /declined the personal loan of €6,000: “Withdrawn by phone\.”/)
  assert.match(words, /One request still waits for a verdict/)
  await untilEqual(() => conflict(tab).evaluate((banner) => banner === document.activeElement), true)
  for (const number of [1, 2])
    for (const button of await group(number)
      .getByRole('button', { name: /^(Approve|Conditions|Decline)/ })
      .all())
      assert.equal(await button.isDisabled(), true)
  assert.equal(await reasonOf(tab).getAttribute('readonly'), '')
  await tab.keyboard.press('c')
  await group(1)
    .getByRole('button', { name: /^Approve/, pressed: true })
    .waitFor()
  await drawer(tab).getByRole('button', { name: 'See the decision' }).click()
  await untilEqual(
    () => tab.evaluate(() => document.activeElement?.textContent?.includes('Withdrawn by phone.') ?? false),
    true,
  )
  for (const theme of THEMES)
    for (const size of Object.values(SIZES)) {
      await changeTheme(tab, theme)
      await tab.setViewportSize(size)
      await assertAccessible(tab, `a conflict about one of two requests (${theme}, ${size.width})`)
    }
  await tab.setViewportSize(SIZES.desktop)
  await drawer(tab).getByRole('button', { name: 'Go on with what waits' }).click()
  await untilCount(conflict(tab), 0)
  assert.equal(await reasonOf(tab).inputValue(), 'One loan is enough.')
  await drawer(tab)
    .getByRole('button', { name: /^Decline €4,000/ })
    .click()
  await tab.getByText('Declined In Part.').waitFor()
  assert.deepEqual(await reviewsOf(second.id), [['decline', undefined]])
  assert.deepEqual(await reviewsOf(first.id), [['decline', undefined]])
  await tab.close()
})

test('what a reviewer still types when a colleague decides the case acts on no other case', async () => {
  const first = await undecided('Typed Through', 6_000)
  const other = await undecided('Not Opened', 6_000)
  const tab = await openCase('Typed Through')
  await tab.keyboard.press('a')
  await reasonOf(tab).click()
  await tab.keyboard.type('Known for ')
  // In the page, without the pauses of a remote control: keys go to where the focus is, before and after the conflict.
  const typing = tab.evaluate(async () => {
    const typeKey = (key: string, ctrlKey = false) =>
      document.activeElement!.dispatchEvent(
        new KeyboardEvent('keydown', { key, ctrlKey, bubbles: true, cancelable: true }),
      )
    while (!document.querySelector('aside [role=alert]')) {
      typeKey('y')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    for (const key of 'ears, n and J a declined register g i') typeKey(key)
    typeKey('Enter', true)
  })
  await declineByApi(first.id, 'Withdrawn by phone.')
  await typing
  await conflict(tab).getByText('Withdrawn by phone.').waitFor()
  await drawer(tab).getByRole('heading', { level: 2, name: 'Typed Through' }).waitFor()
  assert.match(tab.url(), /\/review-queue\?.*case=/)
  assert.deepEqual(await reviewsOf(other.id), [])
  await tab.close()
})
