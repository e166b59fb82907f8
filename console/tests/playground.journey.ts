/** The playground: dry runs, what-ifs, two policies, scenarios that are kept, and the same decision recorded and by HTTP. */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import type { Page } from 'playwright-core'
import { fillPool } from '../../server/tests/pool-tasks.ts'
import { recordPersona } from '../../server/tests/record-persona.ts'
import type { TestOrganization } from '../../server/tests/test-service.ts'
import { assertAccessible, assertAccessibleEverywhere, openConsole, settle, untilEqual } from './browser.ts'

const testConsole = await openConsole()
const { api, problems } = testConsole
const key = /sk_sandbox_\w+/.exec(api.service.firstRunText ?? '')?.[0]
assert.ok(key, 'the first run prints a key of the sandbox')
const organization = {
  post: (path: string, body: unknown, headers = {}) =>
    api.request('sandbox', path, { method: 'POST', key, body, headers }),
} as TestOrganization
const prime = await recordPersona(organization, 'prime')

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

// The browser keeps what-if values for the next visit, which would be the next test.
beforeEach(async () => {
  const tab = await testConsole.open('usage')
  await tab.evaluate(() => localStorage.clear())
  await tab.close()
})

test('a developer tries a request, records it with the keyboard, and finds it replayed in Decisions', async () => {
  const tab = await testConsole.open('playground')
  await tab.getByText('Nothing decided yet').waitFor()
  await tab.getByRole('textbox', { name: 'Entity' }).fill('persona-prime')
  await tab.getByRole('textbox', { name: 'Amount asked' }).fill('6000')
  await tab.keyboard.press('Control+Enter')
  const header = tab.getByRole('region', { name: 'Verdict' })
  await header.getByText('Approve', { exact: true }).waitFor()
  await header.getByText(/Dry run, decided in/).waitFor()
  assert.match(await tab.locator('pre').first().innerText(), /"requested_amount": 6000/)
  await tab.getByText('Python', { exact: true }).click()
  assert.match(await tab.locator('pre').first().innerText(), /requests\.post/)
  await tab.getByText('Record in sandbox').click()
  await tab.keyboard.press('Control+Enter')
  await tab.waitForURL(/decisions\/dec_/)
  await tab.getByText(/Replayed to the byte/).waitFor()
  const id = /dec_\w+/.exec(tab.url())![0]
  const { body } = await api.request('sandbox', `/v1/decisions/${id}`, { key })
  assert.equal(body.verdict, prime.verdict, 'the same verdict as the HTTP call gave')
  await tab.close()
})

test('a slider shows where the verdict flips, and re-decides as it moves', async () => {
  const tab = await testConsole.open(`decisions/${prime.id}`)
  await tab.getByRole('link', { name: 'Open in playground' }).click()
  await tab.waitForURL(/playground\?decision=/)
  await settle(tab)
  const slider = tab.getByRole('slider', { name: 'Requested amount' })
  await slider.focus()
  await slider.press('End')
  await tab.locator('[aria-live=polite]', { hasText: /points|score/ }).waitFor()
  await assertAccessible(tab, 'a what-if')
  await tab.getByRole('button', { name: 'Reset' }).click()
  await tab.locator('[aria-live=polite]', { hasText: /points|score/ }).waitFor({ state: 'detached' })
  await tab.close()
})

/** The rows of the what-if, each with a slider and a field. */
async function whatIfRows(tab: Page) {
  const rows = tab.getByRole('listitem').filter({ has: tab.getByRole('slider') })
  await rows.first().waitFor()
  return rows
}

test('a field of the what-if finds nothing wrong in a number that was not typed', async () => {
  const tab = await testConsole.open(`playground?decision=${prime.id}`)
  const rows = await whatIfRows(tab)
  for (const row of await rows.all()) {
    await row.getByRole('textbox').focus()
    await row.getByRole('textbox').blur()
  }
  assert.equal(await tab.locator('input[aria-invalid=true]').count(), 0, 'a number of the page is no problem')
  await tab.close()
})

test('a field of the what-if reads the unit that it shows', async () => {
  const persona = 'a weak account is declined by its score, for reasons it can read'
  const tab = await testConsole.open(`playground?persona=${encodeURIComponent(persona)}`)
  const rows = await whatIfRows(tab)
  const days = rows.filter({ has: tab.locator('[role=slider][aria-valuetext$=" days"]') }).first()
  for (const typed of ['12', '13 days', '14days']) {
    await days.getByRole('textbox').fill(typed)
    const value = `${Number.parseFloat(typed)} days`
    await untilEqual(() => days.getByRole('slider').getAttribute('aria-valuetext'), value)
    await days.getByRole('textbox').blur()
    assert.equal(await days.getByRole('textbox').inputValue(), typed)
  }
  await days.getByRole('slider').press('Home')
  await untilEqual(() => days.getByRole('textbox').inputValue(), '0')
  await tab.close()
})

test('a score that falls short while a rule settles the verdict is marked as failed, and not as settling', async () => {
  const persona = 'credit officer: lives on savings'
  const tab = await testConsole.open(`playground?persona=${encodeURIComponent(persona)}`)
  const rows = await whatIfRows(tab)
  const step = (name: string) => tab.getByRole('listitem').filter({ hasText: new RegExp(`^${name}`) })
  assert.match(await step('Score').innerText(), /^Score\s+failed, but did not settle it\s+547 < 550$/)
  assert.match(await step('Review rules').innerText(), /^Review rules\s+settled here\s/)
  assert.match(await step('Limit').innerText(), /^Limit\s+not reached/)
  const repaid = rows.filter({ hasText: 'history.repaid' }).getByRole('textbox')
  await repaid.fill('3')
  await step('Score').getByText('561 ≥ 550').waitFor()
  assert.match(await step('Score').innerText(), /^Score\s+passed\s+561 ≥ 550$/)
  await tab.close()
})

test('a slider that moves on ends the request for its earlier value', async () => {
  const tab = await testConsole.open(`playground?decision=${prime.id}`)
  const slider = tab.getByRole('slider', { name: 'Requested amount' })
  await slider.waitFor()
  await settle(tab)
  const held = Promise.withResolvers<void>()
  const ended: string[] = []
  let asked = 0
  await tab.route('**/playground.decide', async (route) => {
    asked += 1
    if (asked === 1) await held.promise
    // The browser has ended the first request by then.
    await route.continue().catch(() => {})
  })
  tab.on('requestfailed', (request) => ended.push(`${request.failure()?.errorText}`))
  await slider.press('End')
  await untilEqual(async () => asked, 1)
  await slider.press('Home')
  await untilEqual(async () => ended.join(), 'net::ERR_ABORTED')
  held.resolve()
  await tab
    .getByRole('region', { name: 'Result of the what-if' })
    .getByText(/points|does not move/)
    .waitFor()
  await tab.unroute('**/playground.decide')
  await tab.close()
})

test('a what-if that finds too many others waiting keeps its last answer and is tried again', async () => {
  const tab = await testConsole.open(`playground?decision=${prime.id}`)
  const slider = tab.getByRole('slider', { name: 'Requested amount' })
  await slider.waitFor()
  await settle(tab)
  const release = await fillPool(api.service.installation.threads, testConsole.organizationId)
  let refusals = 0
  tab.on('response', (response) => {
    if (response.status() === 429) refusals += 1
  })
  await slider.press('End')
  await untilEqual(async () => refusals > 0, true)
  await slider.waitFor()
  assert.equal(await tab.getByText('This could not be loaded').count(), 0)
  await release()
  await tab
    .getByRole('region', { name: 'Result of the what-if' })
    .getByText(/points|does not move/)
    .waitFor()
  await tab.close()
})

for (const size of ['desktop', 'phone'] as const)
  test(`the verdict stays in sight while the last slider moves, on a ${size}`, async () => {
    const tab = await testConsole.open(`playground?decision=${prime.id}`, { size })
    const sliders = tab.getByRole('slider')
    await sliders.first().waitFor()
    assert.ok((await sliders.count()) > 4)
    await sliders.last().evaluate((slider) => slider.scrollIntoView({ block: 'center' }))
    await sliders.last().press('End')
    const reached = await sliders.last().getAttribute('aria-valuenow')
    const result = tab.getByRole('region', { name: 'Result of the what-if' })
    await result.getByText(/points|does not move/).waitFor()
    const isInSight = await result.evaluate((bar) => {
      const { left, top, width, height } = bar.getBoundingClientRect()
      return bar.contains(document.elementFromPoint(left + width / 2, top + height / 2))
    })
    assert.ok(isInSight, 'the result is covered, or out of the window')
    assert.equal(await sliders.last().getAttribute('aria-valuemax'), reached, 'the thumb stays where it was moved')
    await tab.close()
  })

test('a persona is decided under two policies side by side', async () => {
  const tab = await testConsole.open('playground')
  await tab.getByRole('button', { name: 'Personas' }).click()
  await tab.getByRole('menuitem').first().click()
  await tab.waitForURL(/persona=/)
  await tab.getByRole('region', { name: 'Verdict' }).waitFor()
  const url = new URL(tab.url())
  const version = 'sandbox-policy-v1'
  await tab.goto(`${url}&a=${version}&b=${version}`)
  await settle(tab)
  await tab.getByText('They do not, on these facts.').waitFor()
  await tab.close()
})

/** Saves the request on the page under a name. */
async function saveAs(tab: Page, name: string): Promise<void> {
  await tab.getByRole('button', { name: /^Save as/ }).click()
  const dialog = tab.getByRole('dialog', { name: 'Save as a scenario' })
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByRole('button', { name: /scenario$/ }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** The address of the playground with two scenarios side by side. */
let compared = ''

test('two scenarios are kept with their what-ifs, survive a reload, and stand side by side', async () => {
  const tab = await testConsole.open(`playground?decision=${prime.id}`)
  await tab.getByRole('region', { name: 'Verdict' }).waitFor()
  await saveAs(tab, 'As decided')
  await tab.waitForURL(/scenario=scn_/)
  await tab.getByText(/Saved by Ben Ode/).waitFor()
  const slider = tab.getByRole('slider', { name: 'Requested amount' })
  await slider.focus()
  await slider.press('End')
  await tab.getByText(/changed since/).waitFor()
  const largest = await slider.getAttribute('aria-valuenow')
  await saveAs(tab, 'As much as possible')
  await tab.getByText(/changed since/).waitFor({ state: 'detached' })

  await tab.reload()
  await settle(tab)
  assert.equal(await slider.getAttribute('aria-valuenow'), largest, 'a scenario keeps its what-if')
  await tab
    .getByRole('combobox', { name: 'Compare with scenario' })
    .or(tab.getByLabel('Compare with scenario'))
    .first()
    .click()
  await tab.getByRole('option', { name: 'As decided' }).click()
  await tab.getByText('two scenarios').waitFor()
  await tab.getByRole('table').filter({ hasText: 'request.amount' }).first().waitFor()
  const { search } = new URL(tab.url())
  compared = `playground${search}`

  await tab.getByRole('button', { name: 'Scenarios' }).click()
  await tab.getByRole('menuitem', { name: 'As decided' }).click()
  await untilEqual(async () => (await slider.getAttribute('aria-valuenow')) === largest, false)
  await tab.close()
})

test('a scenario is renamed, replaced and removed, and the audit log has each step', async () => {
  const tab = await testConsole.open(`playground?decision=${prime.id}`)
  await saveAs(tab, 'First try')
  const more = (name: string) => tab.getByRole('button', { name: `More about the scenario ${name}` })
  await more('First try').click()
  await tab.getByRole('menuitem', { name: 'Rename' }).click()
  const name = tab.getByRole('textbox', { name: 'Name' })
  await name.fill('As decided')
  await tab.getByText('Another scenario has this name.').waitFor()
  await assertAccessible(tab, 'the dialog that renames a scenario')
  await name.fill('Second try')
  await tab.getByRole('button', { name: 'Rename', exact: true }).click()
  await more('Second try').waitFor()
  await tab.getByRole('slider', { name: 'Requested amount' }).press('End')
  await tab.getByRole('button', { name: 'Save changes' }).click()
  await tab.getByText(/changed since/).waitFor({ state: 'detached' })
  await more('Second try').click()
  await tab.getByRole('menuitem', { name: 'Remove' }).click()
  await tab.getByRole('button', { name: 'Remove scenario' }).click()
  await tab.waitForURL((url) => !url.searchParams.has('scenario'))
  await tab.getByRole('button', { name: 'Scenarios' }).click()
  await tab.getByRole('menuitem', { name: 'As decided' }).waitFor()
  assert.equal(await tab.getByRole('menuitem', { name: /try/ }).count(), 0)
  await tab.close()
  const log = await testConsole.open('audit-log?type=scenario.removed')
  await log.getByText('scenario.removed').first().waitFor()
  await log.close()
})

test('the playground with two scenarios is accessible in both themes, on a desktop and on a phone', () =>
  assertAccessibleEverywhere(testConsole, compared, { prepare: (tab) => tab.getByText('two scenarios').waitFor() }))
