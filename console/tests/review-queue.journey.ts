/** A reviewer works through the queue with the keyboard only, and a slower one is told who was faster. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type ConsoleClient, signedInOperator } from '../../server/tests/console-client.ts'
import { assertAccessible, assertAccessibleEverywhere, openConsole, settle, untilEqual } from './browser.ts'
import { caseOpener } from './review-cases.ts'

const testConsole = await openConsole()
const { api, organizationId, problems, url } = testConsole

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const { key, ask, undecided, reviewsOf } = await caseOpener(testConsole)

const names = ['Aster Imports', 'Birch Bakery', 'Cedar Cycles', 'Dune Design']
const decisions: { id: string; entityId: string }[] = []
for (const name of names) decisions.push(await undecided(name, 6_000))

/** A browser of a second reviewer, signed in. */
async function secondReviewer(): Promise<Page> {
  const ines = await signedInOperator(api, { organizationId, email: 'ines@fjordlend.example', role: 'reviewer' })
  const tab = await testConsole.openSignedOut('/sign-in')
  const [name, value] = ines.cookie!.split('=')
  await tab.context().addCookies([{ name: name!, value: value!, url }])
  await tab.goto(`${url}/${organizationId}/sandbox/review-queue`)
  await settle(tab)
  return tab
}

const drawer = (tab: Page) => tab.getByRole('complementary', { name: 'Case' })
const opened = (tab: Page, name: string) => drawer(tab).getByRole('heading', { level: 2, name }).waitFor()

test('a case shows the end of its id also on a narrow line', async () => {
  const tab = await testConsole.open('review-queue', { size: 'phone' })
  await tab.keyboard.press('j')
  await opened(tab, 'Aster Imports')
  const id = drawer(tab).getByTitle(decisions[0]!.id)
  assert.equal(await id.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth), 0)
  await tab.close()
})

test('with the keyboard only: take a case, decide it, land on the next, while a second reviewer is told that it was taken', async () => {
  const slower = await secondReviewer()
  const tab = await testConsole.open('review-queue')
  await tab.getByText('4 open cases, oldest first.').waitFor()
  // Both look at the oldest case; the owner takes it first.
  await slower.keyboard.press('j')
  await opened(slower, 'Aster Imports')
  await tab.keyboard.press('n')
  await opened(tab, 'Aster Imports')
  await drawer(tab).getByText('Assigned to you').waitFor()
  await drawer(tab).getByText('Why a person:').waitFor()
  await assertAccessible(tab, 'a case of the queue')
  await drawer(tab).getByRole('button', { name: 'Whole decision' }).press('Enter')
  await drawer(tab).getByRole('heading', { level: 2, name: 'Rule trace' }).waitFor()
  await assertAccessible(tab, 'the whole decision of a case')
  await drawer(tab).getByRole('button', { name: 'Whole decision' }).press('Enter')

  await slower.keyboard.press('m')
  await slower
    .getByRole('alert')
    .getByText(/^Ben Ode took this case, on /)
    .waitFor()
  await drawer(slower)
    .getByText(/Ben Ode\s*took this case/)
    .waitFor()
  assert.equal(await drawer(slower).getByRole('button', { name: 'Approve A' }).count(), 0)

  await tab.keyboard.press('a')
  await drawer(tab).getByText('all that was asked').waitFor()
  assert.equal(await tab.evaluate(() => document.activeElement?.getAttribute('value')), '6,000', 'A asks for the limit')
  await tab.keyboard.press('Control+Enter')
  assert.equal(
    await drawer(tab).getByRole('button', { name: 'Approve €6,000: give a reason' }).isDisabled(),
    true,
    'a reason is required',
  )
  await drawer(tab).getByText('Write a reason.').waitFor()
  await tab.keyboard.press('Tab')
  await tab.keyboard.type('Known for years, pays on time.')
  await assertAccessible(tab, 'the form that decides')
  await tab.keyboard.press('Control+Enter')
  await tab.getByText('Approved Aster Imports for €6,000.').waitFor()
  await opened(tab, 'Birch Bakery')
  // The toast lies on none of them.
  for (const name of [/^Approve/, /^Conditions/, /^Decline/])
    await drawer(tab).getByRole('button', { name }).first().click({ trial: true })
  assert.equal(await drawer(tab).locator('[aria-pressed=true]').count(), 0, 'no verdict moves to the next applicant')
  await tab.getByText('3 open cases, oldest first.').waitFor()

  await drawer(slower).getByText('Known for years, pays on time.').waitFor({ timeout: 15_000 })
  await drawer(slower)
    .getByText(/by Ben Ode/)
    .waitFor()
  const { body } = await api.request('sandbox', `/v1/decisions/${decisions[0]!.id}/replay`, { key })
  assert.deepEqual(
    body.reviews.map(({ verdict, reason }: { verdict: string; reason: string }) => [verdict, reason]),
    [['approve', 'Known for years, pays on time.']],
  )
  await slower.context().close()
  await tab.close()
})

test('a reviewer who decides what a colleague has just decided is told by whom, and keeps the filters on the next case', async () => {
  const tab = await testConsole.open('review-queue?holder=free')
  await tab.keyboard.press('j')
  await opened(tab, 'Birch Bakery')
  await tab.keyboard.press('d')
  await tab.keyboard.type('No accounts were sent.')
  const review = { verdict: 'decline', reviewer: { id: 'crm-1', name: 'Carla' }, reason: 'Withdrawn by phone.' }
  await api.request('sandbox', `/v1/decisions/${decisions[1]!.id}/reviews`, { method: 'POST', key, body: review })
  await tab.keyboard.press('Control+Enter')
  const alert = drawer(tab)
    .getByRole('alert')
    .filter({ hasText: /Carla \(through API key .+\) decided this/ })
  await alert.getByText('Withdrawn by phone.').waitFor({ timeout: 15_000 })
  await tab.keyboard.press('Escape')
  await tab.keyboard.press('Escape')
  await drawer(tab).waitFor({ state: 'detached' })
  await tab.keyboard.press('j')
  await opened(tab, 'Cedar Cycles')
  assert.match(tab.url(), /holder=free/)

  // A request that joins while the reviewer writes gets fields of its own; what was written stays.
  await tab.keyboard.press('c')
  await tab.keyboard.type('Bring the accounts of 2025')
  await ask(decisions[2]!.entityId, 4_000)
  await tab.keyboard.press('Control+Enter')
  await drawer(tab).getByText('2 requests, a verdict and a limit each').waitFor({ timeout: 15_000 })
  assert.equal(
    await drawer(tab).getByRole('textbox', { name: 'Conditions' }).inputValue(),
    'Bring the accounts of 2025',
  )
  await drawer(tab)
    .getByRole('button', { name: /one has no verdict/ })
    .waitFor()
  await tab.close()
})

test('a case is decided with conditions and a limit, noted on, and says afterwards who decided it and why', async () => {
  const tab = await testConsole.open('review-queue')
  await tab.keyboard.press('j')
  await opened(tab, 'Cedar Cycles')
  await drawer(tab).getByLabel('Note').fill('Called the owner.')
  await drawer(tab).getByRole('button', { name: 'Add note' }).click()
  await drawer(tab).getByText('Called the owner.').first().waitFor()
  const first = drawer(tab).getByRole('group', { name: '1. personal loan' })
  const second = drawer(tab).getByRole('group', { name: '2. personal loan' })
  await first.getByRole('button', { name: /^Decline/ }).click()
  await second.getByRole('button', { name: /^Conditions/ }).click()
  await second.getByRole('textbox', { name: 'Conditions' }).fill('Bring the accounts of 2025')
  await second.getByLabel('Limit in EUR').fill('3500')
  await second.getByText('€500 less than asked').waitFor()
  await drawer(tab).getByLabel('Reason').fill('Enough for the smaller request.')
  await assertAccessible(tab, 'the form with two requests')
  await drawer(tab)
    .getByRole('button', { name: 'Decide 2 requests: decline €6,000, approve €3,500 with conditions' })
    .click()
  await tab.getByText('Decided 2 requests of Cedar Cycles.').waitFor()
  assert.deepEqual(
    await reviewsOf(decisions[2]!.id),
    [['decline', undefined]],
    'the limit of one request is not given to the other',
  )
  await opened(tab, 'Dune Design')
  await tab.keyboard.press('Escape')
  await tab.goto(`${url}/${organizationId}/sandbox/review-queue?state=decided`)
  await settle(tab)
  await tab.getByRole('row').filter({ hasText: 'Aster Imports' }).getByText('€6,000 granted').waitFor()
  await tab.getByRole('row').filter({ hasText: 'Cedar Cycles' }).getByRole('link').click()
  for (const words of ['Enough for the smaller request.', 'Bring the accounts of 2025', '€3,500', 'Called the owner.'])
    await drawer(tab).getByText(words).first().waitFor()
  await tab.close()
})

test('the overview leads to the queue', async () => {
  const tab = await testConsole.open('overview')
  await tab.getByRole('link', { name: /Waiting for a person/ }).click()
  await tab.getByRole('heading', { level: 1, name: 'Review queue' }).waitFor()
  await tab.close()
})

test('the queue is accessible in both themes and at both widths, closed and with a case open', async () => {
  await assertAccessibleEverywhere(testConsole, 'review-queue')
  await assertAccessibleEverywhere(testConsole, `review-queue?case=cas_${decisions[3]!.id.slice(4)}`, {
    prepare: async (tab) => {
      await opened(tab, 'Dune Design')
      await tab.keyboard.press('c')
    },
  })
})

/** Another reviewer, without a page, who decides a case of this name. */
async function declineElsewhere(reviewer: ConsoleClient, { id }: { id: string }, reason: string): Promise<void> {
  const { body } = await reviewer.call(`${organizationId}/sandbox/cases.list`, {})
  const listed = body.cases.find((one: { decision: { id: string } }) => one.decision.id === id)
  const verdicts = [{ decision_id: id, verdict: 'decline' }]
  const answer = await reviewer.call(`${organizationId}/sandbox/cases.decide`, { id: listed.id, reason, verdicts })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

const reasonOf = (tab: Page) => drawer(tab).getByRole('textbox', { name: 'Reason' })

test('what is written about a case stays with it: another case begins empty, and a reload brings it back', async () => {
  const tab = await testConsole.open('review-queue')
  await undecided('Elm Energy', 6_000)
  await undecided('Fir Foods', 7_000)
  await tab.reload()
  await settle(tab)
  await tab.getByRole('row').filter({ hasText: 'Elm Energy' }).getByRole('link').click()
  await opened(tab, 'Elm Energy')
  await tab.keyboard.press('d')
  await reasonOf(tab).fill('Two invoices are forged.')
  await tab.keyboard.press('Escape')
  await tab.keyboard.press('j')
  await opened(tab, 'Fir Foods')
  assert.equal(await drawer(tab).getByRole('button', { pressed: true }).count(), 0, 'no verdict moves to the next case')
  assert.equal(await reasonOf(tab).count(), 0)
  await tab.keyboard.press('k')
  await opened(tab, 'Elm Energy')
  await untilEqual(() => reasonOf(tab).inputValue(), 'Two invoices are forged.')
  await tab.reload()
  await opened(tab, 'Elm Energy')
  await untilEqual(() => reasonOf(tab).inputValue(), 'Two invoices are forged.')
  await drawer(tab)
    .getByText(/^Your draft of .* is back\.$/)
    .waitFor()
  await drawer(tab).getByRole('button', { name: 'Discard' }).click()
  await reasonOf(tab).waitFor({ state: 'detached' })
  await tab.close()
})

test('a colleague who is faster is named, found by the poll or by the answer, and the text stays until the reviewer acts', async () => {
  const priya = await signedInOperator(api, { organizationId, email: 'priya@fjordlend.example', role: 'reviewer' })
  for (const [name, isSent] of [
    ['Gorse Garage', false],
    ['Hazel Hotels', true],
  ] as const) {
    const tab = await testConsole.open('review-queue')
    const decision = await undecided(name, 8_000)
    await tab.reload()
    await settle(tab)
    await tab.getByRole('row').filter({ hasText: name }).getByRole('link').click()
    await opened(tab, name)
    await tab.keyboard.press('d')
    await reasonOf(tab).fill('Not before the accounts are here.')
    await declineElsewhere(priya, decision, 'The owner is insolvent.')
    if (isSent) await tab.keyboard.press('Control+Enter')
    const alert = drawer(tab).getByRole('alert').filter({ hasText: 'your text is kept' })
    await alert.waitFor()
    assert.match((await alert.textContent())!, /^Test decided this just now, at \d\d:\d\d:\d\d; your text is kept\./)
    assert.match((await alert.textContent())!, /Test declined: “The owner is insolvent\.”/)
    await untilEqual(() => alert.evaluate((banner) => banner === document.activeElement), true)
    assert.equal(await tab.getByText(`Declined ${name}.`).count(), 0, 'no toast of success')
    assert.equal(await reasonOf(tab).inputValue(), 'Not before the accounts are here.')
    assert.equal(await reasonOf(tab).getAttribute('readonly'), '')
    assert.equal(
      await drawer(tab)
        .getByRole('button', { name: /^Decline/, pressed: true })
        .isDisabled(),
      true,
    )
    assert.equal(
      await drawer(tab)
        .getByRole('button', { name: /^Decline €/ })
        .count(),
      0,
      'nothing can be sent',
    )
    await assertAccessible(tab, `a conflict (${name})`)
    await tab.reload()
    await opened(tab, name)
    await alert.waitFor()
    await drawer(tab).getByRole('button', { name: 'Keep mine as a note' }).click()
    await alert.waitFor({ state: 'detached' })
    await drawer(tab).getByRole('listitem').filter({ hasText: 'Not before the accounts are here.' }).waitFor()
    await tab.close()
  }
})

test('a case shows what is on offer to the applicant besides', async () => {
  const offered = await undecided('Elm Estates', 6_000)
  const waiting = await ask(offered.entityId, 4_000)
  const review = { verdict: 'approve', reviewer: { id: 'u-1' }, reason: 'Seen.', recommended_limit: 5_500 }
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  const path = `/v1/decisions/${offered.id}/reviews`
  assert.equal((await api.request('sandbox', path, { method: 'POST', key, body: review, headers })).status, 201)
  const tab = await testConsole.open(`review-queue?case=cas_${offered.id.slice(4)}`)
  await opened(tab, 'Elm Estates')
  await drawer(tab).getByRole('heading', { name: 'Lent, offered or asked for besides' }).waitFor()
  const row = drawer(tab).getByRole('listitem').filter({ hasText: 'Open offer' })
  await row.getByText('€5,500').waitFor()
  await assertAccessible(tab, 'a case with an open offer')
  await row.getByRole('link', { name: 'Open offer' }).click()
  await tab.waitForURL((address) => address.pathname.endsWith(`/decisions/${offered.id}`))
  assert.deepEqual(await reviewsOf(waiting.id), [])
  await tab.close()
})
