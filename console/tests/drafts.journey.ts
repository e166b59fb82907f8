/** Nothing typed is lost, and nothing is done twice: drafts, double clicks, an outage, an answer that is lost. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, OWNER, SIZES, settle, THEMES, untilCount, untilEqual } from './browser.ts'
import { openConsoleBehindProxy, outage } from './cut-network.ts'
import { caseOpener } from './review-cases.ts'

const { testConsole, network } = await openConsoleBehindProxy()
const { api, organizationId, problems } = testConsole
const { sandbox } = api.service.installation.storage.environments
const { control } = api.service.installation.storage

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const { undecided, reviewsOf } = await caseOpener(testConsole)

const POLICY = 'policies/sandbox-policy-v1'
const comment = (tab: Page) => tab.getByRole('textbox', { name: 'Your comment' })
const drafts = (tab: Page) =>
  tab.evaluate(() => Object.keys(localStorage).filter((name) => name.startsWith('verdigraph-draft')).length)
const keysNamed = async (name: string) =>
  (await sandbox.query('SELECT id FROM api_keys WHERE org_id = $1 AND name = $2', [organizationId, name])).length
const commentsSaying = async (text: string) =>
  (await sandbox.query('SELECT id FROM policy_comments WHERE body = $1', [text])).length

async function openKeyForm(tab: Page, name: string): Promise<void> {
  await tab.getByRole('button', { name: 'Create key' }).first().click()
  await tab.getByRole('textbox', { name: 'Name' }).fill(name)
  await tab.getByRole('button', { name: 'Choose all' }).click()
}

async function closeReveal(tab: Page): Promise<void> {
  const dialog = tab.getByRole('dialog')
  await dialog
    .getByText(/^sk_sandbox_/)
    .first()
    .waitFor()
  await tab.keyboard.press('Escape')
  await tab.keyboard.press('Escape')
}

test('two submits within one frame, two Enters and a double click make one key each', async () => {
  const ways: [string, (tab: Page) => Promise<unknown>][] = [
    [
      'One frame',
      (tab) =>
        tab.locator('dialog form, [role=dialog] form').evaluate((form: HTMLFormElement) => {
          form.requestSubmit()
          form.requestSubmit()
        }),
    ],
    [
      'Two Enters',
      async (tab) => {
        await tab.getByRole('textbox', { name: 'Name' }).focus()
        await Promise.all([tab.keyboard.press('Enter'), tab.keyboard.press('Enter')])
      },
    ],
    ['Double click', (tab) => tab.getByRole('button', { name: 'Create and show key' }).dblclick()],
  ]
  for (const [name, submit] of ways) {
    const tab = await testConsole.open('api-keys')
    await openKeyForm(tab, name)
    await submit(tab)
    await tab
      .getByRole('dialog')
      .getByText(/^sk_sandbox_/)
      .first()
      .waitFor()
    await settle(tab)
    assert.equal(await keysNamed(name), 1, name)
    await tab.close()
  }
})

test('what was typed survives a reload and an ended session, is in every tab, and goes when it is sent', async () => {
  const tab = await testConsole.open(POLICY)
  await comment(tab).fill('Is 550 too low?')
  const other = await testConsole.open(POLICY)
  await untilEqual(() => comment(other).inputValue(), 'Is 550 too low?')
  await comment(other).fill('Is 550 too low for loans?')
  await untilEqual(() => comment(tab).inputValue(), 'Is 550 too low for loans?')
  await other.close()

  await tab.reload()
  await settle(tab)
  assert.equal(await comment(tab).inputValue(), 'Is 550 too low for loans?')
  await tab.getByText(/^Your draft of .* is back\.$/).waitFor()
  await assertAccessible(tab, 'a form with a draft')

  await control.query('DELETE FROM sessions')
  await tab.getByRole('button', { name: 'Comment' }).click()
  await tab.waitForURL('**/sign-in?*')
  await tab.getByRole('textbox', { name: 'E-mail' }).fill(OWNER.email)
  await tab.getByRole('textbox', { name: 'Password' }).fill(OWNER.password)
  assert.equal(JSON.stringify(await tab.evaluate(() => ({ ...localStorage }))).includes(OWNER.password), false)
  await tab.getByRole('button', { name: 'Sign in' }).click()
  await tab.waitForURL(`**/${POLICY}`)
  await settle(tab)
  assert.equal(await comment(tab).inputValue(), 'Is 550 too low for loans?')
  await tab.getByRole('button', { name: 'Comment' }).click()
  await untilEqual(() => comment(tab).inputValue(), '')
  assert.equal(await commentsSaying('Is 550 too low for loans?'), 1)
  assert.equal(await drafts(tab), 0)
  await tab.close()
})

test('a draft belongs to its object, can be discarded, and signing out removes all of them', async () => {
  const tab = await testConsole.open('team')
  const name = () => tab.getByRole('textbox', { name: 'Name' })
  await tab.getByRole('button', { name: 'Invite' }).first().click()
  await name().fill('Cleo Winter')
  await tab.keyboard.press('Escape')
  await tab.getByRole('button', { name: 'Invite' }).first().click()
  assert.equal(await name().inputValue(), 'Cleo Winter')
  await tab.getByRole('button', { name: 'Discard' }).click()
  assert.equal(await name().inputValue(), '')
  await name().fill('Dora Lund')
  await tab.keyboard.press('Escape')
  assert.equal(await drafts(tab), 1)
  await tab.getByRole('button', { name: /^Your account/ }).click()
  await tab.getByRole('menuitem', { name: 'Sign out' }).click()
  await tab.waitForURL('**/sign-in')
  assert.equal(await drafts(tab), 0)
  await signIn(tab)
  await tab.close()
})

test('what another tab or an earlier visit had typed is offered, not overwritten', async () => {
  const tab = await testConsole.open(POLICY)
  await comment(tab).fill('The cutoff looks too low.')
  const other = await testConsole.open(POLICY)
  await untilEqual(() => comment(other).inputValue(), 'The cutoff looks too low.')
  const older = (page: Page) => page.getByRole('status').filter({ hasText: /^An older draft of / })
  await comment(other).fill('The cutoff looks too low. Who chose it?')
  assert.equal(await older(other).count(), 0, 'nothing of it is lost')
  await comment(other).fill('Leave it.')
  for (const page of [other, tab]) {
    await older(page).waitFor()
    await untilEqual(() => comment(page).inputValue(), 'Leave it.')
  }
  await assertAccessible(tab, 'a form with an older draft')
  await older(tab).getByRole('button', { name: 'Bring it back' }).click()
  await untilEqual(() => comment(other).inputValue(), 'The cutoff looks too low.')
  await other.close()

  await tab.reload()
  await settle(tab)
  await comment(tab).fill('A third text.')
  await older(tab).getByRole('button', { name: 'Bring it back' }).click()
  assert.equal(await comment(tab).inputValue(), 'The cutoff looks too low.')
  for (const name of ['Discard', 'Discard the older draft'])
    await tab.getByRole('button', { name, exact: true }).first().click()
  await untilEqual(() => comment(tab).inputValue(), '')
  await untilCount(older(tab), 0)
  assert.equal(await drafts(tab), 0)
  await tab.close()
})

test('a JSON that is not understood yet and the numbers of the bounds survive a reload', async () => {
  const tab = await testConsole.open('playground?product=personal_loan&amount=5000&entity=kept-draft')
  await tab.getByRole('radiogroup', { name: 'How the request is written' }).getByText('JSON').click()
  const json = tab.getByRole('textbox', { name: /^Body of POST/ })
  await json.fill('{ "entity_id": "kept-draft", "requested_amount": ')
  await tab.reload()
  await settle(tab)
  assert.equal(await json.inputValue(), '{ "entity_id": "kept-draft", "requested_amount": ')
  await tab.getByText('This is not JSON yet.').waitFor()
  await json.fill('{ "entity_id": "kept-draft", "product": "personal_loan" }')
  await untilEqual(() => drafts(tab), 0)
  await tab.close()

  const queue = await testConsole.open('review-queue')
  await queue.getByRole('button', { name: 'Change bounds' }).click()
  await queue.getByRole('textbox', { name: 'Refused above, times' }).fill('7')
  await queue.reload()
  await settle(queue)
  await queue.getByRole('button', { name: 'Change bounds' }).click()
  assert.equal(await queue.getByRole('textbox', { name: 'Refused above, times' }).inputValue(), '7')
  await queue.getByRole('button', { name: 'Discard' }).click()
  await untilEqual(() => drafts(queue), 0)
  await queue.close()
})

test('what-if values stay with the facts that they change', async () => {
  const { entityId } = await undecided('What If', 6_000)
  const page = `playground?entity=${entityId}&product=personal_loan&amount=5000&currency=EUR`
  const tab = await testConsole.open(page)
  await tab.getByRole('button', { name: /^Decide €5,000/ }).click()
  const first = tab
    .getByRole('region', { name: 'Result of the what-if' })
    .locator('xpath=..')
    .getByRole('textbox')
    .first()
  await first.fill('7')
  await tab.getByRole('button', { name: 'Reset' }).and(tab.locator(':enabled')).waitFor()
  await tab.reload()
  await settle(tab)
  assert.equal(await first.inputValue(), '7')
  await tab.getByText(/^Your draft of .* is back\.$/).waitFor()
  await tab.getByRole('button', { name: 'Reset' }).click()
  await untilEqual(() => drafts(tab), 0)
  await tab.close()
})

async function signIn(tab: Page): Promise<void> {
  await tab.getByRole('textbox', { name: 'E-mail' }).fill(OWNER.email)
  await tab.getByRole('textbox', { name: 'Password' }).fill(OWNER.password)
  await tab.getByRole('button', { name: 'Sign in' }).click()
  await tab.waitForURL('**/overview')
}

test('an outage is a banner that goes by itself; the form stays, and its button tries again', async () => {
  for (const theme of THEMES) {
    const words = `Typed before the outage (${theme})`
    const tab = await testConsole.open(POLICY, { theme })
    await comment(tab).fill(words)
    network.refuse()
    await tab.getByRole('button', { name: 'Comment' }).click()
    await outage(tab).waitFor()
    const again = tab.getByRole('button', { name: 'Try again: comment' })
    await again.waitFor()
    assert.equal(await comment(tab).inputValue(), words)
    assert.equal(await tab.getByRole('navigation', { name: 'Main' }).isVisible(), true, 'the shell stays')
    assert.equal(await tab.getByRole('alert').count(), 0, 'no toast beside the banner')
    for (const size of Object.values(SIZES)) {
      await tab.setViewportSize(size)
      await assertAccessible(tab, `an outage (${theme}, ${size.width})`)
    }
    await tab.setViewportSize(SIZES.desktop)
    network.pass()
    await untilCount(outage(tab), 0)
    await again.click()
    await untilEqual(() => comment(tab).inputValue(), '')
    assert.equal(await commentsSaying(words), 1)
    await tab.close()
  }
})

test('an answer that is lost is asked for again under the same key: one key is made, and shown', async () => {
  const tab = await testConsole.open('api-keys')
  await openKeyForm(tab, 'Lost answer')
  network.refuseFromAnswerTo('api-keys.create')
  await tab.getByRole('button', { name: 'Create and show key' }).click()
  const again = tab.getByRole('button', { name: 'Try again: create and show key' })
  await again.waitFor()
  assert.equal(await keysNamed('Lost answer'), 1, 'the server has made it')
  network.pass()
  await again.click()
  await closeReveal(tab)
  assert.equal(await keysNamed('Lost answer'), 1)
  await tab.close()
})

test('a retry after a lost answer and a reload is a retry, too', async () => {
  const tab = await testConsole.open(POLICY)
  await comment(tab).fill('Sent once, also after a reload.')
  network.refuseFromAnswerTo('policies.comment')
  await tab.getByRole('button', { name: 'Comment' }).click()
  await tab.getByRole('button', { name: 'Try again: comment' }).waitFor()
  network.pass()
  await tab.reload()
  await settle(tab)
  await tab.getByRole('button', { name: 'Comment' }).click()
  await untilEqual(() => comment(tab).inputValue(), '')
  assert.equal(await commentsSaying('Sent once, also after a reload.'), 1)
  await tab.close()
})

test('a review that an outage interrupts is sent once: by trying again, or when it turns out to have arrived', async () => {
  for (const arrived of [false, true]) {
    const name = arrived ? 'Arrived' : 'Interrupted'
    const decision = await undecided(name, 6_000)
    const tab = await testConsole.open('review-queue')
    const drawer = tab.getByRole('complementary', { name: 'Case' })
    await tab.getByRole('row').filter({ hasText: name }).getByRole('link').click()
    await drawer.getByRole('heading', { level: 2, name }).waitFor()
    await tab.keyboard.press('d')
    await drawer.getByRole('textbox', { name: 'Reason' }).fill('The second number belongs to a sold branch.')
    if (arrived) network.refuseFromAnswerTo('cases.decide')
    else network.refuse()
    await tab.keyboard.press('Control+Enter')
    await outage(tab).waitFor()
    const again = drawer.getByRole('button', { name: /^Try again: decline €6,000/ })
    await again.waitFor()
    const reason = drawer.getByRole('textbox', { name: 'Reason' })
    assert.equal(await reason.inputValue(), 'The second number belongs to a sold branch.')
    assert.equal((await reviewsOf(decision.id)).length, arrived ? 1 : 0)
    await assertAccessible(tab, 'an outage in a review')
    network.pass()
    if (arrived) await drawer.getByRole('region', { name: 'How it ended' }).waitFor()
    else {
      await again.click()
      await tab.getByText(`Declined ${name}.`).waitFor()
    }
    await untilCount(outage(tab), 0)
    assert.equal((await reviewsOf(decision.id)).length, 1)
    await untilEqual(() => drafts(tab), 0)
    await tab.close()
  }
})

/** The pages of the navigation. */
const titles = ['Overview', 'Playground', 'Decisions', 'Review queue', 'Entities', 'Policies'].concat([
  'Live gate',
  'Audit log',
  'Webhooks',
  'API keys',
  'Usage',
  'Team',
])

test('every page keeps the shell while the server is away, and shows its data by itself afterwards', async () => {
  const tab = await testConsole.open('overview')
  const navigation = tab.getByRole('navigation', { name: 'Main' })
  const visit = async (title: string) => {
    await navigation.getByRole('link', { name: title }).click()
    await tab.getByRole('heading', { level: 1, name: title }).waitFor()
  }
  // The scripts of all pages are loaded now, and no data of production.
  for (const title of titles) await visit(title)
  assert.equal(await navigation.getByRole('link').count(), titles.length, 'all pages are visited')
  network.refuse()
  await tab.keyboard.press('g')
  await tab.keyboard.press('p')
  await tab.waitForURL('**/production/**')
  await outage(tab).waitFor()
  for (const title of titles) {
    await visit(title)
    assert.equal(await navigation.getByRole('link').count(), titles.length, `${title} keeps the navigation`)
    assert.equal(
      await tab.getByRole('button', { name: /^Your account/ }).isVisible(),
      true,
      `${title} keeps the account`,
    )
    assert.equal(await outage(tab).isVisible(), true, `${title} has the banner`)
  }
  network.pass()
  await untilCount(outage(tab), 0)
  for (const title of titles) {
    await visit(title)
    await settle(tab)
    assert.equal(await tab.getByText(/could not be read/).count(), 0, `${title} shows its data`)
  }
  await tab.close()
})

test('a page that is opened during an outage opens by itself once the server answers', async () => {
  const tab = await testConsole.open('overview')
  network.refuse()
  await tab.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Playground' }).click()
  await outage(tab).waitFor()
  assert.equal(await tab.getByRole('navigation', { name: 'Main' }).isVisible(), true)
  network.pass()
  await tab.getByRole('heading', { level: 1, name: 'Playground' }).waitFor()
  await untilCount(outage(tab), 0)
  await tab.close()
})

test('a list that cannot be read says so in its place, with the request id, and the rest of the page stays', async () => {
  const tab = await testConsole.open('api-keys')
  await sandbox.query('ALTER TABLE api_keys RENAME TO api_keys_away')
  await tab.reload()
  const failed = tab.getByRole('alert').filter({ hasText: 'These rows could not be read' })
  await failed.waitFor()
  await failed.getByText(/^Request/).waitFor()
  assert.equal(await tab.getByRole('heading', { level: 1, name: 'API keys' }).isVisible(), true)
  await assertAccessible(tab, 'a list that could not be read')
  await sandbox.query('ALTER TABLE api_keys_away RENAME TO api_keys')
  await failed.getByRole('button', { name: 'Try again' }).click()
  await untilCount(failed, 0)
  await tab
    .getByRole('cell', { name: /Lost answer/ })
    .first()
    .waitFor()
  await tab.close()
})
