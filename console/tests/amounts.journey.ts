/** Amounts as people type them: in three notations, asked back where they could mean two things, and guarded when they are high. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { recordPersona } from '../../server/tests/record-persona.ts'
import type { TestOrganization } from '../../server/tests/test-service.ts'
import { assertAccessible, assertAccessibleEverywhere, openConsole, settle, untilEqual } from './browser.ts'
import { caseOpener } from './review-cases.ts'

const testConsole = await openConsole()
const { problems, url } = testConsole
const { key, undecided, ask, reviewsOf } = await caseOpener(testConsole)
const organization = {
  post: (path: string, body: unknown, headers = {}) =>
    testConsole.api.request('sandbox', path, { method: 'POST', key, body, headers }),
} as Pick<TestOrganization, 'post'>

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const drawer = (tab: Page) => tab.getByRole('complementary', { name: 'Case' })
const limit = (tab: Page) => drawer(tab).getByLabel('Limit in EUR')
const caseOf = ({ id }: { id: string }) => `review-queue?case=cas_${id.slice(4)}`

/** The button that decides, whose words begin so. */
const button = (tab: Page, name: string | RegExp) => drawer(tab).getByRole('button', { name })

/** Chooses a notation on the account page. */
async function chooseNotation(example: string): Promise<void> {
  const tab = await testConsole.open('overview')
  await tab.goto(`${url}/account`)
  await settle(tab)
  await tab.getByRole('radio', { name: example, exact: true }).check()
  await tab.getByText('Numbers are written and read so from now on.').waitFor()
  await assertAccessible(tab, 'the account page')
  await tab.close()
}

/** Opens the case of a decision, approves, and types a limit as a person does. */
async function typeLimit(decision: { id: string }, text: string): Promise<Page> {
  const tab = await testConsole.open(caseOf(decision))
  await drawer(tab).getByText('Why a person:').waitFor()
  await tab.keyboard.press('a')
  await limit(tab).waitFor()
  await tab.keyboard.type(text)
  return tab
}

/** Gives the reason and sends with the keyboard. */
async function decide(tab: Page): Promise<void> {
  await drawer(tab).getByLabel('Reason').fill('The register was seen.')
  await tab.keyboard.press('Control+Enter')
}

const THREE_NOTATIONS = [
  { example: '1,234,567.50', typed: '13,500', shown: '€13,500', cents: '13,500.50', withCents: '€13,500.50' },
  { example: '1.234.567,50', typed: '13.500', shown: '€13.500', cents: '13.500,5', withCents: '€13.500,50' },
  {
    example: '1\u00a0234\u00a0567,50',
    typed: '13 500',
    shown: '€13\u00a0500',
    cents: '13 500,50',
    withCents: '€13\u00a0500,50',
  },
]

for (const { example, typed, shown, cents, withCents } of THREE_NOTATIONS)
  test(`a person who writes ${example} types ${typed}, reads ${shown} on the button, and grants 13500`, async () => {
    await chooseNotation(example)
    const decision = await undecided(`Notation ${example}`, 13_500)
    const tab = await typeLimit(decision, cents)
    await button(tab, `Approve ${withCents}`).waitFor()
    await limit(tab).fill(typed)
    await drawer(tab).getByText('all that was asked').waitFor()
    await decide(tab)
    await tab.getByText(`for ${shown}.`).waitFor()
    assert.deepEqual(await reviewsOf(decision.id), [['approve', 13_500]])
    await tab.close()
  })

test('a mark before three digits that the notation does not settle is asked back, and nothing is sent meanwhile', async () => {
  await chooseNotation('1,234,567.50')
  const decision = await undecided('Two readings', 13_500)
  const tab = await typeLimit(decision, '13.500')
  assert.equal(await drawer(tab).getByText('could be thousands or decimals').count(), 0, 'not while it is typed')
  await decide(tab)
  await drawer(tab).getByText('could be thousands or decimals').waitFor()
  await button(tab, 'Approve: which amount?').waitFor()
  const which = drawer(tab).getByRole('group', { name: 'Which amount is it?' })
  assert.deepEqual(await which.getByRole('button').allInnerTexts(), ['€13.50', '€13,500'])
  assert.equal(await limit(tab).inputValue(), '13.500', 'a refusal keeps the text')
  await assertAccessible(tab, 'an amount with two readings')
  assert.deepEqual(await reviewsOf(decision.id), [])
  await which.getByRole('button', { name: '€13,500' }).click()
  assert.equal(await limit(tab).inputValue(), '13,500')
  const sent: string[] = []
  tab.on('request', (request) => sent.push(request.url()))
  await limit(tab).press('Enter')
  await button(tab, /^Approve €13,500/).waitFor()
  assert.deepEqual(
    sent.filter((address) => address.endsWith('cases.decide')),
    [],
    'Enter in a field sends nothing',
  )
  await tab.keyboard.press('Control+Enter')
  await tab.getByText('for €13,500.').waitFor()
  assert.deepEqual(await reviewsOf(decision.id), [['approve', 13_500]])
  await tab.close()
})

test('pasted amounts are read, and what is no amount says why', async () => {
  const decision = await undecided('Pasted', 1_000_000)
  const tab = await typeLimit(decision, '')
  for (const text of ['1,000,000', '€ 1 000 000', '1.000.000,00', "1'000'000.–", '+1000000 EUR']) {
    await limit(tab).fill(text)
    await button(tab, /^Approve €1,000,000/).waitFor()
  }
  for (const [text, why] of [
    ['−5', 'The amount cannot be negative.'],
    ['$500', 'Write the amount in EUR alone, without “$”.'],
    ['10.123', 'could be thousands or decimals'],
    ['10.1234', 'EUR has at most two decimals.'],
    ['', 'Write a limit.'],
  ] as const) {
    await limit(tab).fill(text)
    await limit(tab).blur()
    await drawer(tab).getByText(why).waitFor()
  }
  await tab.close()
})

test('a limit far above what was asked is asked about, and needs a reason that says why', async () => {
  const decision = await undecided('Slip', 13_500)
  const tab = await typeLimit(decision, '135,000')
  await drawer(tab).getByText('€135,000 is 10 times the €13,500 asked.').waitFor()
  await decide(tab)
  await button(tab, 'Approve €135,000: is it meant?').waitFor()
  await drawer(tab).getByLabel('Reason').fill('Fine.')
  await drawer(tab).getByRole('checkbox', { name: 'Yes, I mean €135,000' }).check()
  await button(tab, 'Approve €135,000: say why').waitFor()
  await tab.keyboard.press('Control+Enter')
  await assertAccessible(tab, 'a limit above what was asked')
  assert.deepEqual(await reviewsOf(decision.id), [])
  await limit(tab).fill('135,001')
  await button(tab, 'Approve €135,001: above the bounds').waitFor()
  await limit(tab).fill('14,000')
  await button(tab, 'Approve €14,000: is it meant?').waitFor()
  await drawer(tab).getByRole('checkbox', { name: 'Yes, I mean €14,000' }).check()
  await drawer(tab).getByLabel('Reason').fill('The dealer adds the registration fee to the price.')
  await tab.keyboard.press('Control+Enter')
  await tab.getByText('for €14,000.').waitFor()
  assert.deepEqual(await reviewsOf(decision.id), [['approve', 14_000]])
  await tab.close()
})

test('a limit that lost a digit is asked about, and needs a reason that says why', async () => {
  const decision = await undecided('Lost digit', 13_500)
  const tab = await typeLimit(decision, '1,350')
  await drawer(tab).getByText('€1,350 is a tenth of the €13,500 asked.').waitFor()
  await decide(tab)
  await button(tab, 'Approve €1,350: is it meant?').waitFor()
  await drawer(tab).getByRole('checkbox', { name: 'Yes, I mean €1,350' }).check()
  await drawer(tab).getByLabel('Reason').fill('Fine.')
  await button(tab, 'Approve €1,350: say why').waitFor()
  await drawer(tab).getByText('Say why the limit is so low, in at least 20 characters.').first().waitFor()
  await assertAccessible(tab, 'a limit far below what was asked')
  assert.deepEqual(await reviewsOf(decision.id), [])
  await drawer(tab).getByLabel('Reason').fill('The rest is paid by the employer.')
  await tab.keyboard.press('Control+Enter')
  await tab.getByText('for €1,350.').waitFor()
  assert.deepEqual(await reviewsOf(decision.id), [['approve', 1_350]])
  await tab.close()
})

test('limits that are each within the bounds are asked about by their sum', async () => {
  const first = await recordPersona(organization, 'bad company')
  const tab = await testConsole.open(caseOf(first))
  const lend = drawer(tab).getByText(/could lend €/)
  const most = Number(/could lend €([\d,]+)/.exec(await lend.first().innerText())![1]!.replaceAll(',', ''))
  const second = await ask(first.entity_id, most)
  await tab.reload()
  await drawer(tab).getByText('2 requests, a verdict and a limit each').waitFor()
  await tab.keyboard.press('a')
  // Escape leaves the field; before the field has the focus, it would close the case.
  const isInField = () => tab.evaluate(() => document.activeElement instanceof HTMLInputElement)
  await untilEqual(isInField, true)
  await tab.keyboard.press('Escape')
  const same = drawer(tab).getByRole('button', { name: 'Same verdict for all' })
  await same.focus()
  await same.press('Enter')
  await drawer(tab)
    .getByText(/^Together €[\d,]+: €6,000 above what the policy could lend this applicant/)
    .waitFor()
  await drawer(tab).getByLabel('Reason').fill('A guarantor with a house stands in for it.')
  await button(tab, /: is the sum meant\?$/).waitFor()
  await assertAccessible(tab, 'two limits that are high together')
  await drawer(tab)
    .getByRole('checkbox', { name: /^Yes, I mean €[\d,]+ together$/ })
    .check()
  await tab.keyboard.press('Control+Enter')
  await tab.getByText('Decided 2 requests of').waitFor()
  assert.deepEqual(
    [...(await reviewsOf(first.id)), ...(await reviewsOf(second.id))],
    [
      ['approve', 6_000],
      ['approve', most],
    ],
  )
  await tab.close()
})

test('a draft stays the amount that was typed when its person changes the notation', async () => {
  const decision = await undecided('Another notation', 13_500)
  const typed = await typeLimit(decision, '13,000')
  await button(typed, /^Approve €13,000/).waitFor()
  await typed.close()
  await chooseNotation('1.234.567,50')
  const tab = await testConsole.open(caseOf(decision))
  await button(tab, /^Approve €13\.000/).waitFor()
  assert.equal(await limit(tab).inputValue(), '13.000')
  await tab.close()
  await chooseNotation('1,234,567.50')
})

test('conditions that are too many or too long are said to be, before they are sent', async () => {
  const decision = await undecided('Conditions', 900)
  const tab = await testConsole.open(caseOf(decision))
  await drawer(tab).getByText('Why a person:').waitFor()
  await tab.keyboard.press('c')
  const conditions = drawer(tab).getByRole('textbox', { name: 'Conditions' })
  await drawer(tab).getByText('one on each line: at most 20, of 500 characters each.').waitFor()
  await conditions.fill('Send a payslip\n'.repeat(21))
  await drawer(tab).getByText('These are 21 conditions; at most 20 can be sent.').waitFor()
  await button(tab, /with conditions: too many conditions$/).waitFor()
  await conditions.fill(`Send ${'x'.repeat(500)}`)
  await drawer(tab)
    .getByText(/has 505 characters; a condition has at most 500\.$/)
    .waitFor()
  await assertAccessible(tab, 'a condition that is too long')
  await conditions.fill(`${'x'.repeat(500)}\n`.repeat(20))
  await decide(tab)
  await tab.getByText('for €900.').waitFor()
  await tab.close()
})

test('with the keyboard two requests of a case get a verdict and a limit each', async () => {
  const large = await undecided('Two requests', 12_000)
  const small = await ask(large.entityId, 300)
  const tab = await testConsole.open(caseOf(large))
  await drawer(tab).getByText('2 requests, a verdict and a limit each').waitFor()
  await drawer(tab).getByText('€12,300').waitFor()
  await tab.keyboard.press('1')
  await tab.keyboard.press('a')
  await tab.keyboard.type('11,500')
  await tab.keyboard.press('Escape')
  await tab.keyboard.press('2')
  await tab.keyboard.press('d')
  await drawer(tab).getByLabel('Reason').fill('One loan is enough.')
  await button(tab, /^Decide 2 requests: approve €11,500, decline €300/).waitFor()
  await tab.keyboard.press('Control+Enter')
  await tab.getByText('Decided 2 requests of Two requests.').waitFor()
  assert.deepEqual(await reviewsOf(large.id), [['approve', 11_500]])
  assert.deepEqual(await reviewsOf(small.id), [['decline', undefined]])
  await tab.close()
})

test('the playground understands the same amounts, and decides none that it did not understand', async () => {
  const { entityId } = await undecided('Playground', 500)
  const tab = await testConsole.open(`playground?entity=${entityId}`)
  const amount = tab.getByRole('textbox', { name: 'Amount asked' })
  for (const [text, value, words] of [
    ['13,500', 13_500, 'Decide €13,500'],
    ['1,000,000', 1_000_000, 'Decide €1,000,000'],
  ] as const) {
    await amount.fill(text)
    await tab.getByRole('button', { name: words }).waitFor()
    await untilEqual(
      async () => (await tab.locator('pre').first().innerText()).includes(`"requested_amount": ${value}`),
      true,
    )
    assert.equal(await amount.inputValue(), text)
  }
  await amount.fill('13.500')
  await tab.getByRole('button', { name: 'Decide: which amount?' }).waitFor()
  await tab.keyboard.press('Control+Enter')
  await tab.getByText('Nothing decided yet').waitFor()
  await amount.blur()
  await tab.getByRole('button', { name: '€13,500', exact: true }).click()
  await tab.keyboard.press('Control+Enter')
  await tab.getByRole('region', { name: 'Verdict' }).waitFor()
  await tab.getByRole('textbox', { name: 'Requested amount' }).fill('12,500')
  await untilEqual(() => tab.getByRole('slider', { name: 'Requested amount' }).getAttribute('aria-valuenow'), '12500')
  await tab.close()
})

test('an owner changes how far limits may go, with a reason, and the queue says so', async () => {
  const tab = await testConsole.open('review-queue')
  await tab.getByText('More than 10 times what was asked is refused.').waitFor()
  await tab.getByRole('button', { name: 'Change bounds' }).click()
  const dialog = tab.getByRole('dialog', { name: 'How far may a limit go?' })
  await dialog.getByLabel('Without a question, percent').fill('5')
  await dialog.getByLabel('Refused above, times').fill('3')
  await dialog.getByLabel('Why?').fill('Fees are added to what was asked.')
  await assertAccessible(tab, 'the dialog of the bounds')
  await dialog.getByRole('button', { name: 'Change bounds' }).click()
  await tab.getByText(/^A limit more than 5\s% above what was asked/).waitFor()
  await tab.close()
  const decision = await undecided('Within', 1_000)
  const within = await typeLimit(decision, '1,050')
  await drawer(within).getByText('€50 more than asked').waitFor()
  await decide(within)
  await within.getByText('for €1,050.').waitFor()
  const log = await testConsole.open('audit-log', { environment: 'production' })
  await log.getByText('review_bounds.changed').first().waitFor()
  await log.close()
  await within.close()
})

test('a case with two requests is accessible in both themes and at both widths', async () => {
  const large = await undecided('Everywhere', 9_000)
  await ask(large.entityId, 700)
  await assertAccessibleEverywhere(testConsole, caseOf(large), {
    prepare: async (tab) => {
      await drawer(tab).getByText('2 requests, a verdict and a limit each').waitFor()
      await tab.keyboard.press('a')
      await tab.keyboard.type('40.000')
      await limit(tab).first().blur()
      await button(tab, 'Same verdict for all').click()
      const form = drawer(tab)
        .locator('form')
        .filter({ has: tab.getByLabel('Reason') })
      assert.ok(await form.evaluate((element) => element.scrollWidth <= element.clientWidth), 'it scrolls sideways')
    },
  })
})
