/** Decisions: the list, the view of one with its replay and its proof in the browser, before and after an alteration by SQL. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { alterDocument } from '../../server/tests/alter-documents.ts'
import { createEntity, underwrite } from '../../server/tests/figures-requests.ts'
import { recordPersona } from '../../server/tests/record-persona.ts'
import type { TestOrganization } from '../../server/tests/test-service.ts'
import { assertAccessible, assertAccessibleEverywhere, openConsole, settle, untilCount } from './browser.ts'
import { savedFile } from './saved-file.ts'

const testConsole = await openConsole()
const { api, problems, organizationId } = testConsole
const key = /sk_sandbox_\w+/.exec(api.service.firstRunText ?? '')?.[0]
assert.ok(key, 'the first run prints a key of the sandbox')
const organization = {
  post: (path: string, body: unknown, headers = {}) =>
    api.request('sandbox', path, { method: 'POST', key, body, headers }),
} as TestOrganization
const ada = await recordPersona(organization, 'overreach')
const linked = await recordPersona(organization, 'bad company')
const otto = await underwrite(organization, await createEntity(organization, 'Otto Empty'))

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

test('an analyst filters the list, saves it as CSV and opens a decision', async () => {
  const tab = await testConsole.open('decisions')
  const rows = tab.getByRole('table', { name: 'Decisions' }).getByRole('link')
  await untilCount(rows, 4)
  await tab.getByRole('search').getByText('Verdict').click()
  await tab.getByRole('menuitem', { name: 'Approve with conditions' }).click()
  await tab.waitForURL(/verdict=approve_with_conditions/)
  await untilCount(rows, 1)
  const saved = await savedFile(tab, () => tab.getByRole('button', { name: 'CSV' }).click())
  const lines = saved.trim().split('\r\n')
  assert.equal(lines.length, 2)
  assert.match(lines[1]!, new RegExp(`^${ada.id},.*,approve_with_conditions,.*,400000,EUR,`))
  const shown = await tab.getByTitle(/^The cutoff is/).innerText()
  const [score] = shown.split(/\s/)
  await rows.first().click()
  await tab.waitForURL(`**/${organizationId}/sandbox/decisions/${ada.id}`)
  await tab
    .getByRole('region', { name: 'Verdict' })
    .getByText(new RegExp(`^${score} cutoff`))
    .waitFor()
  await tab.getByText('Approve with conditions').first().waitFor()
  await tab.close()
})

test('hovering the time of a decision shows it in UTC', async () => {
  const tab = await testConsole.open('decisions')
  const time = tab.getByRole('table', { name: 'Decisions' }).locator('time').first()
  const at = await time.getAttribute('datetime')
  await time.hover()
  await tab.getByRole('tooltip', { name: `${at!.slice(0, 19).replace('T', ' ')} UTC` }).waitFor()
  await tab.getByRole('heading', { level: 1 }).hover()
  await untilCount(tab.getByRole('tooltip'), 0)
  await tab.close()
})

test('what a person granted stands in the list, in the CSV, on the decision and on the entity', async () => {
  const entity = await createEntity(organization, 'Lumen Atelier', { income: true })
  const asked = await underwrite(organization, entity, {
    requested_amount: 13_500,
    currency: 'EUR',
    reference: 'application-8841',
  })
  const waiting = await testConsole.open(`decisions?entity_id=${entity}`)
  await waiting.getByRole('cell', { name: 'waiting' }).waitFor()
  await waiting.close()
  const review = await organization.post(
    `/v1/decisions/${asked.id}/reviews`,
    {
      verdict: 'approve_with_conditions',
      reviewer: { id: 'r1', name: 'Maren Kluge' },
      reason: 'Known for years.',
      conditions: [{ code: 'payslip', label: 'Send a payslip' }],
      recommended_limit: 9_000,
      currency: 'EUR',
    },
    { 'Idempotency-Key': crypto.randomUUID() },
  )
  assert.equal(review.status, 201, review.text)
  const tab = await testConsole.open(`decisions?entity_id=${entity}`)
  await tab.getByRole('cell', { name: '€9,000 Maren Kluge' }).waitFor()
  const saved = await savedFile(tab, () => tab.getByRole('button', { name: 'CSV' }).click())
  const [head, line] = saved.trim().split('\r\n')
  assert.ok(head!.endsWith(',review,granted_limit,granted_conditions,reviewer,review_api_key,reviewed_at'))
  assert.ok(line!.includes(',application-8841,13500,'), line)
  const granted = 'approve_with_conditions,9000,Send a payslip,Maren Kluge,key_'
  assert.ok(line!.includes(`,13500,EUR,,`) && line!.includes(granted), line)
  await tab.getByRole('table', { name: 'Decisions' }).getByRole('link').click()
  const header = tab.getByRole('region', { name: 'Verdict' })
  await header.getByText('€9,000 granted of €13,500 asked').waitFor()
  await header.getByText('application-8841').waitFor()
  await header.getByText(/Granted by Maren Kluge through API key .* on the conditions: Send a payslip/).waitFor()
  assert.equal(await tab.getByText('No limit until a person decides').count(), 0)
  const step = (name: string) => tab.getByRole('listitem').filter({ hasText: new RegExp(`^${name}`) })
  assert.match(await step('Score').innerText(), /^Score\s+failed, but did not settle it\s+\d{3} < 550$/)
  await assertAccessible(tab, 'a reviewed decision')
  await header.getByRole('link', { name: 'Lumen Atelier' }).click()
  await tab.getByText('€9,000 granted of €13,500 asked').waitFor()
  await tab.getByText(/Reviewed by Maren Kluge through API key/).waitFor()
  await assertAccessible(tab, 'the entity of a reviewed decision')
  await tab.close()
  const phone = await testConsole.open(`decisions?entity_id=${entity}`, { size: 'phone' })
  await phone.getByText('€9,000 granted').waitFor()
  await phone.close()
})

for (const size of ['desktop', 'phone'] as const)
  test(`a list of 1,000 decisions on a ${size} draws those near the window, without gaps, to its end`, async () => {
    const tab = await testConsole.open('decisions', { size })
    await answerWithCopies(tab, 1_000)
    await tab.reload()
    await settle(tab)
    const table = tab.getByRole('table', { name: 'Decisions' })
    const lastRow = table.locator('tr[aria-rowindex="1001"]')
    // Every time it comes to the end of what is loaded, the list asks for more.
    while ((await lastRow.count()) === 0) await tab.keyboard.press('End')
    assert.equal(await table.getAttribute('aria-rowcount'), '1001')
    assert.deepEqual(await gapsIn(table), [])
    assert.ok((await table.getByRole('link').count()) < 80)
    const withoutRole = table.locator('tr:not([role=row]), th:not([role=columnheader]), td:not([role=cell])')
    assert.equal(await withoutRole.count(), 0)
    // Like the end: a key that is pressed while the browser still scrolls may come to nothing.
    const firstRow = table.locator('tr[aria-rowindex="2"]')
    while ((await firstRow.count()) === 0) await tab.keyboard.press('Home')
    assert.deepEqual(await gapsIn(table), [])
    await tab.close()
  })

test('a desktop cuts off no common value of the list', async () => {
  const tab = await testConsole.open('decisions')
  const review = { verdict: 'approve', limit: { amount: 13_500, currency: 'EUR' }, conditions: [], through_key: null }
  const changes = {
    product: 'marketplace_access',
    outcome: 'charged_off',
    review: { ...review, reviewer: 'Maren Kluge', at: new Date().toISOString() },
  }
  await answerWithCopies(tab, 1, changes)
  // 1,440 px without the scroll bar of most systems.
  await tab.setViewportSize({ width: 1425, height: 900 })
  await tab.reload()
  await settle(tab)
  for (const words of ['marketplace access', '€13,500 Maren Kluge', 'charged off'])
    assert.equal(await cutOff(tab.getByRole('cell', { name: words })), 0, words)
  await tab.setViewportSize({ width: 1280, height: 900 })
  assert.ok((await cutOff(tab.locator('html'))) <= 0)
  await tab.close()
})

test('a phone cuts off no figure of a verdict', async () => {
  const tab = await testConsole.open(`decisions/${ada.id}`, { size: 'phone' })
  const figures = await tab.getByRole('region', { name: 'Verdict' }).locator('dd').all()
  assert.ok(figures.length > 4)
  for (const figure of figures) assert.equal(await cutOff(figure), 0, (await figure.textContent())!)
  await tab.close()
})

/** How many pixels of the words of an element are out of sight. */
function cutOff(element: Locator): Promise<number> {
  return element.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
}

/** Answers the list of decisions with copies of its first page, with some fields changed. */
async function answerWithCopies(tab: Page, count: number, changes: object = {}): Promise<void> {
  // In the page, because Playwright knows no bodies of requests of Firefox.
  await tab.addInitScript(
    ({ count, changes }) => {
      const ask = window.fetch
      let copied: { id: string }[] | undefined
      window.fetch = async (path, options) => {
        if (!String(path).endsWith('/decisions.list')) return ask(path, options)
        copied ??= ((await (await ask(path, options)).json()) as { decisions: { id: string }[] }).decisions
        const { cursor = '0', limit } = JSON.parse(String(options!.body)) as { cursor?: string; limit: number }
        const from = Number(cursor)
        const decisions = Array.from({ length: Math.min(limit, count - from) }, (_, n) => ({
          ...{ ...copied![(from + n) % copied!.length], ...changes },
          id: `dec_${from + n}`,
        }))
        const next = from + decisions.length
        return Response.json({ decisions, next_cursor: next < count ? String(next) : null, is_cut_short: false })
      }
    },
    { count, changes },
  )
}

/** The rows that do not begin where the one before them ends. */
function gapsIn(table: Locator): Promise<(string | null)[]> {
  return table.locator('tr[aria-rowindex]').evaluateAll((rows) =>
    rows
      .filter((row, n) => {
        const previous = rows[n - 1]
        if (!previous) return false
        // Firefox lays out in sixtieths of a pixel, which do not add up exactly.
        return Math.abs(row.getBoundingClientRect().top - previous.getBoundingClientRect().bottom) > 0.1
      })
      .map((row) => row.getAttribute('aria-rowindex')),
  )
}

test('a decision shows what settled it, replays to the byte, and its proof is verified in the page', async () => {
  const tab = await testConsole.open(`decisions/${ada.id}`)
  const header = tab.getByRole('region', { name: 'Verdict' })
  await header.getByText(`of €400,000 asked`).waitFor()
  await tab.getByText('is approved, less than was asked for').waitFor()
  await tab.locator('li[data-state=settled]', { hasText: 'Limit' }).waitFor()
  const waterfall = tab.getByRole('table', { name: /^Points by characteristic/ })
  await waterfall.getByRole('row', { name: /^Score/ }).waitFor()
  await tab.getByText('Binding', { exact: true }).waitFor()
  await tab.getByText('Verified in this browser').waitFor({ timeout: 20_000 })
  await tab.keyboard.press('r')
  await header.getByText(/Replayed to the byte/).waitFor()
  await tab.getByText('Against reference').click()
  await tab.getByText('Right of the line').waitFor()
  await tab.close()
})

test('G R on a decision opens the review queue and replays nothing', async () => {
  const tab = await testConsole.open(`decisions/${ada.id}`)
  await tab.getByRole('button', { name: 'Replay' }).waitFor()
  const replays: string[] = []
  tab.on('request', (request) => {
    if (request.url().endsWith('/decisions.replay')) replays.push(request.url())
  })
  await tab.keyboard.press('g')
  await tab.keyboard.press('r')
  await tab.waitForURL('**/sandbox/review-queue')
  await settle(tab)
  assert.deepEqual(replays, [])
  await tab.close()
})

test('the graph path to a bad outcome is shown, and a pasted id leads to its decision', async () => {
  const tab = await testConsole.open('decisions')
  await tab.getByRole('textbox', { name: 'Open a decision by its id' }).fill(linked.id)
  await tab.keyboard.press('Enter')
  await tab.waitForURL(`**/decisions/${linked.id}`)
  await settle(tab)
  await tab.getByText(/bad outcome, .* of the exposure/).waitFor()
  await tab.close()
})

for (const [name, id] of [
  ['a decision', ada.id],
  ['a decision without an amount', otto.id],
])
  test(`${name} is accessible in both themes, on a desktop and on a phone, also unfolded`, () =>
    assertAccessibleEverywhere(testConsole, `decisions/${id}`, {
      prepare: async (tab) => {
        const folded = tab.locator('main button[aria-expanded=false]')
        while ((await folded.count()) > 0) await folded.first().click()
        await settle(tab)
      },
    }))

test('the list of decisions is accessible in both themes, on a desktop and on a phone', () =>
  assertAccessibleEverywhere(testConsole, 'decisions'))

test('after the evidence was altered by SQL, replay and proof turn red', async () => {
  const tab = await testConsole.open(`decisions/${ada.id}`)
  await tab.getByText('Verified in this browser').waitFor({ timeout: 20_000 })
  const database = api.service.installation.storage.environments.sandbox
  await alterDocument(database, ada.id, 'facts', (facts) =>
    facts.replace('"history.abuse":{"value":0}', '"history.abuse":{"value":3}'),
  )
  await tab.getByRole('button', { name: 'Replay' }).click()
  await tab.getByText(/Replay differs in \d+ places/).waitFor()
  await tab.getByText('The stored evidence is not what was recorded.').waitFor()
  await tab.getByText('/evidence/facts').waitFor()
  await tab.getByText('Does not verify').waitFor()
  await tab.getByText('differs: facts').waitFor()
  assert.equal(await tab.getByText('Verified in this browser').count(), 0)
  await assertAccessible(tab, 'an altered decision')
  await tab.close()
})
