/** An owner sets limits of authority; a reviewer signs first above them, and a second person signs the same or sends it back. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type ConsoleClient, signedInOperator } from '../../server/tests/console-client.ts'
import { assertAccessible, assertAccessibleEverywhere, openConsole, settle, untilEqual } from './browser.ts'
import { caseOpener } from './review-cases.ts'

const testConsole = await openConsole()
const { api, organizationId, problems, url } = testConsole

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const { undecided, reviewsOf } = await caseOpener(testConsole)
const decision = await undecided('Vela Logistics', 52_000)
const other = await undecided('Birch Bakery', 60_000)

const person = (name: string) =>
  signedInOperator(api, { organizationId, email: `${name}@fjordlend.example`, role: 'reviewer' })
const [maren, jonas] = [await person('maren'), await person('jonas')]

async function tabOf(client: ConsoleClient, size?: 'phone'): Promise<Page> {
  const tab = await testConsole.openSignedOut('/sign-in', size && { size })
  const [name, value] = client.cookie!.split('=')
  await tab.context().addCookies([{ name: name!, value: value!, url }])
  await tab.goto(`${url}/${organizationId}/sandbox/review-queue`)
  await settle(tab)
  return tab
}

const drawer = (tab: Page) => tab.getByRole('complementary', { name: 'Case' })
async function open(tab: Page, name: string) {
  await tab.getByRole('row').filter({ hasText: name }).getByRole('link').click()
  await drawer(tab).getByText('Why a person:').waitFor()
}

test('an owner sets an approval limit for reviewers, with a reason', async () => {
  const tab = await testConsole.open('review-queue')
  await tab.getByText('no approval limit is set').waitFor()
  await tab.getByRole('button', { name: 'Change limits' }).click()
  const dialog = tab.getByRole('dialog', { name: 'Who may approve how much?' })
  await dialog.getByRole('button', { name: 'Add a limit' }).click()
  await dialog.getByLabel('Who').selectOption('role reviewer')
  await dialog.getByLabel('Alone up to').fill('50,000')
  await dialog.getByLabel('Why?').fill('The board decided on 12 November.')
  await assertAccessible(tab, 'the form of approval limits')
  await dialog.getByRole('button', { name: 'Change limits' }).click()
  await tab.getByText('Reviewers up to €50,000').waitFor()
  await tab.close()
})

test('above the limit the form says who signs after, records nothing, and the second person signs the same', async () => {
  const first = await tabOf(maren)
  await open(first, 'Vela Logistics')
  await first.keyboard.press('a')
  await drawer(first).getByText('Needs a second signature: above €50,000.').waitFor()
  await drawer(first)
    .getByText(/has to be signed by .*Ben Ode/)
    .waitFor()
  await drawer(first).getByLabel('Reason').fill('The register extract shows the branch was sold.')
  await assertAccessible(first, 'the form above the limit')
  await drawer(first).getByRole('button', { name: 'Sign first: approve €52,000' }).click()
  await first.getByText('Signed: Vela Logistics waits for a second person.').waitFor()
  assert.deepEqual(await reviewsOf(decision.id), [])
  await first.getByText('waits for a second signature').waitFor()
  await open(first, 'Vela Logistics')
  await drawer(first).getByText('You signed first').waitFor()
  assert.equal(
    await drawer(first)
      .getByRole('button', { name: /^Sign for/ })
      .count(),
    0,
  )

  const second = await tabOf(jonas, 'phone')
  await second.getByText('To sign 1').click()
  await second.getByText('needs a second signature').waitFor()
  await open(second, 'Vela Logistics')
  await drawer(second).getByText('Nothing is recorded until you sign the same.').waitFor()
  await drawer(second).getByText('The register extract shows the branch was sold.').waitFor()
  await assertAccessible(second, 'a case that needs a second signature')
  await assertAccessibleEverywhere(testConsole, `review-queue?case=cas_${decision.id.slice(4)}`, {
    prepare: (tab) => drawer(tab).getByRole('button', { name: 'Sign for €52,000' }).waitFor(),
  })
  await drawer(second).getByRole('button', { name: 'Sign for €52,000' }).click()
  await second.getByText('Signed: Vela Logistics is decided.').waitFor()
  assert.deepEqual(await reviewsOf(decision.id), [['approve', 52_000]])
  await first.context().close()
  await second.context().close()
})

test('a second person sends a case back, and its signer finds it again with the words', async () => {
  const first = await tabOf(maren)
  await open(first, 'Birch Bakery')
  await first.keyboard.press('a')
  await drawer(first).getByLabel('Reason').fill('Known for years.')
  await drawer(first).getByRole('button', { name: 'Sign first: approve €60,000' }).click()
  await first.getByText('Signed: Birch Bakery waits for a second person.').waitFor()
  const second = await tabOf(jonas)
  await open(second, 'Birch Bakery')
  await drawer(second).getByRole('button', { name: 'Send back…' }).click()
  const dialog = second.getByRole('dialog', { name: 'Send the case back' })
  await dialog.getByLabel('Why?').fill('Which years?')
  await dialog.getByRole('button', { name: 'Send back' }).click()
  await second.getByText(/^Sent back to /).waitFor()
  await open(first, 'Birch Bakery')
  await drawer(first).getByText('Which years?').waitFor({ timeout: 15_000 })
  await untilEqual(() => drawer(first).getByText('Assigned to you').count(), 1)
  assert.deepEqual(await reviewsOf(other.id), [])
  await first.context().close()
  await second.context().close()
})
