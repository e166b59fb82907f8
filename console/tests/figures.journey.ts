/** Overview, Usage and Audit log, with figures of real requests. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { createEntity, underwrite } from '../../server/tests/figures-requests.ts'
import { recordPersona } from '../../server/tests/record-persona.ts'
import type { TestOrganization } from '../../server/tests/test-service.ts'
import {
  assertAccessible,
  assertAccessibleEverywhere,
  OWNER,
  openConsole,
  SIZES,
  settle,
  untilCount,
} from './browser.ts'
import { savedFile } from './saved-file.ts'

const testConsole = await openConsole()
const { api, problems, organizationId } = testConsole
const key = /sk_sandbox_\w+/.exec(api.service.firstRunText ?? '')?.[0]
assert.ok(key, 'the first run prints a key of the sandbox')
let requests = 0
const organization = {
  post: (path: string, body: unknown, headers = {}) => {
    requests += 1
    return api.request('sandbox', path, { method: 'POST', key, body, headers })
  },
} as TestOrganization

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

test('a new owner is led by the first steps, and sees the first decision when it is made', async () => {
  const tab = await testConsole.open('overview')
  const steps = tab.locator('section', { has: tab.getByRole('heading', { name: 'First steps' }) })
  await steps.getByText('0 of 5').waitFor()
  await tab.getByText('No decisions yet').waitFor()
  await assertAccessible(tab, 'the empty overview')
  const entity = await createEntity(organization, 'Lumen Atelier', { income: true })
  const first = await underwrite(organization, entity, { requested_amount: 2_500, currency: 'EUR' })
  const second = await underwrite(organization, await createEntity(organization, 'Otto Overdrawn'))
  const third = await recordPersona(organization, 'prime')
  assert.deepEqual(
    [first, second, third].map(({ verdict }) => verdict),
    ['manual_review', 'manual_review', 'approve'],
  )
  await api.service.installation.stores.sandbox.drain()
  await untilSeen(tab, () => steps.getByText('3 of 5'))
  assert.equal(await steps.getByRole('link', { name: 'Add an endpoint' }).count(), 1)
  const row = tab.getByRole('row', { name: /Lumen Atelier/ })
  await row.getByText('€2,500').waitFor()
  // A rate of one day once gave the axis no end, and the tab froze.
  const rate = tab.getByRole('group', { name: /^Share of decisions that approve/ })
  assert.deepEqual(
    (await labelsOf(rate)).filter((label) => label.endsWith('%')),
    [0, 10, 20, 30, 40].map((percent) => `${percent}\u00a0%`),
  )
  assert.equal((await labelsOf(rate)).at(-1), writeToday())
  assert.deepEqual(await cutLabels(tab), [])
  await tab.getByRole('link', { name: /^Decisions 3/ }).waitFor()
  await tab.getByText('24 h', { exact: true }).click()
  await tab.waitForURL(/range=24h/)
  await tab.getByRole('heading', { name: 'Decisions by hour' }).waitFor()
  await tab.getByRole('link', { name: /^Decisions 3/ }).click()
  await tab.waitForURL(/decisions\?from=/)
  await untilCount(tab.getByRole('table', { name: 'Decisions' }).getByRole('link'), 3)
  await tab.close()
})

test('usage shows requests by day and key, keeps its period in the URL, and saves what it shows', async () => {
  await ingestMany(await createEntity(organization, 'Mara Many'), 1_100)
  const tab = await testConsole.open('usage')
  await untilSeen(tab, () => tab.getByRole('row', { name: /sandbox|First|key/i }).filter({ hasText: String(requests) }))
  await tab.getByText('7 days', { exact: true }).click()
  await tab.waitForURL(/from=.*to=/)
  await settle(tab)
  const saved = await savedFile(tab, () => tab.getByRole('button', { name: 'CSV' }).click())
  const lines = saved.trim().split('\r\n')
  assert.equal(lines[0], 'environment,api_key,day,requests,errors,decisions,transactions')
  assert.equal(lines.length, 1 + 7, 'a line for each day')
  assert.match(lines.at(-1)!, new RegExp(`^sandbox,all,\\d{4}-\\d{2}-\\d{2},${requests},0,3,\\d+$`))
  await tab.getByLabel('What the chart shows').getByText('Transactions').click()
  await tab.waitForURL(/show=transactions/)
  const chart = tab.getByRole('group', { name: /^transactions by day/ })
  assert.ok((await labelsOf(chart)).includes('1,000'), 'a day with over a thousand transactions is named in full')
  assert.ok((await labelsOf(chart)).includes(writeToday()))
  assert.deepEqual(await cutLabels(tab), [])
  await tab.getByLabel('What the chart shows').getByText('Decisions').click()
  await tab.waitForURL(/show=decisions/)
  await tab.getByRole('table', { name: 'Usage by API key' }).getByRole('link').first().click()
  await tab.waitForURL(/key=key_/)
  await tab.close()
  const misread = await testConsole.open('usage?from=abc')
  await misread.getByRole('heading', { name: 'Requests by day' }).waitFor()
  await misread.close()
})

test('Enter on a bar of the chart opens the decisions of its day, and a filter that is no option can be removed', async () => {
  const tab = await testConsole.open('overview')
  await tab.getByRole('group', { name: /^Decisions by day/ }).focus()
  await tab.keyboard.press('ArrowLeft')
  await tab.keyboard.press('Enter')
  await tab.waitForURL(/decisions\?from=\d{4}-\d{2}-\d{2}&to=/)
  await untilCount(tab.getByRole('table', { name: 'Decisions' }).getByRole('link'), 3)
  await tab.close()
  const other = await testConsole.open('audit-log?actor=key_of_another')
  await other.getByText('No entry matches').waitFor()
  await other.getByRole('button', { name: 'Remove the filter Who' }).click()
  await other
    .getByRole('row', { name: /entity.created/ })
    .first()
    .waitFor()
  await other.close()
})

test('the owner filters the log, opens an entry, verifies the log, and exports what the filter shows', async () => {
  const tab = await testConsole.open('audit-log')
  await tab.getByText('Not verified yet.').waitFor()
  await tab.getByRole('button', { name: 'Verify now' }).click()
  await tab.getByText(/Verified: \d+ entries/).waitFor({ timeout: 20_000 })
  await tab.getByText(`by ${OWNER.name}`).waitFor()
  await untilSeen(tab, () => tab.getByRole('row', { name: /audit_log.verified/ }))
  await tab.getByRole('search').getByText('What').click()
  await tab.getByRole('menuitem', { name: 'entity.created' }).click()
  await tab.waitForURL(/type=entity.created/)
  await untilCount(tab.getByRole('row', { name: /entity.created/ }), 4)
  await tab
    .getByRole('row', { name: /entity.created/ })
    .first()
    .getByRole('link')
    .first()
    .click()
  await tab.waitForURL(/entry=aud_/)
  await tab.getByText('Leaf hash').waitFor()
  await assertAccessible(tab, 'an opened entry')
  await tab.setViewportSize({ width: 320, height: 844 })
  const cutOff = await tab
    .locator('main dd')
    .evaluateAll((values) =>
      values.filter((value) => value.scrollWidth > value.clientWidth).map((value) => value.textContent),
    )
  assert.deepEqual(cutOff, [])
  await tab.setViewportSize(SIZES.desktop)
  const saved = await savedFile(tab, async () => {
    await tab.getByRole('button', { name: 'Export' }).click()
    await tab.getByRole('menuitem', { name: 'JSON lines' }).click()
  })
  const entries = saved
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    entries.map(({ type }) => type),
    Array(4).fill('entity.created'),
  )
  await tab.getByRole('link', { name: 'production log' }).click()
  await tab.waitForURL(`**/${organizationId}/production/audit-log`)
  await tab
    .getByRole('row', { name: /operator\./ })
    .first()
    .waitFor()
  await tab.close()
})

for (const page of ['overview', 'usage'])
  test(`${page} is accessible in both themes, on a desktop and on a phone`, () =>
    assertAccessibleEverywhere(testConsole, page))

test('audit-log is accessible in both themes, on a desktop and on a phone, with each menu open', () =>
  assertAccessibleEverywhere(testConsole, 'audit-log', {
    prepare: async (tab) => {
      await tab.getByRole('search').getByText('What').click()
      await tab.getByRole('menuitem', { name: 'entity.created' }).waitFor()
      await assertAccessible(tab, 'the menu of a filter of the audit log')
      await tab.keyboard.press('Escape')
      await tab.getByRole('menu').waitFor({ state: 'hidden' })
      await tab.getByRole('button', { name: 'Export' }).click()
      await tab.getByRole('menuitem', { name: 'JSON lines' }).waitFor()
    },
  }))

/** Sends so many transactions of one entity, by hundreds. */
async function ingestMany(entityId: string, count: number): Promise<void> {
  const all = Array.from({ length: count }, (_, index) => ({
    external_id: `many-${index}`,
    occurred_at: new Date(Date.parse('2026-01-01') + index * 3_600_000).toISOString(),
    amount: 10,
    currency: 'EUR',
    direction: 'credit',
    category: 'salary',
  }))
  for (let from = 0; from < count; from += 100) {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const body = { transactions: all.slice(from, from + 100) }
    const { status, text } = await organization.post(`/v1/entities/${entityId}/transactions`, body, headers)
    assert.ok(status < 300, text)
  }
}

/** The words of a chart, from the top of its axis down and then along its bottom. */
function labelsOf(chart: Locator): Promise<string[]> {
  return chart.locator('svg text').allTextContents()
}

/** The words of charts that reach beyond their drawing, where nothing of them is seen. */
function cutLabels(tab: Page): Promise<(string | null)[]> {
  return tab.locator('main [role=group] svg text').evaluateAll((words) =>
    words
      .filter((word) => {
        const [own, drawing] = [word.getBoundingClientRect(), word.closest('svg')!.getBoundingClientRect()]
        return (
          own.left < drawing.left || own.right > drawing.right || own.top < drawing.top || own.bottom > drawing.bottom
        )
      })
      .map(({ textContent }) => textContent),
  )
}

/** Today as the charts of the console write it, in UTC: `17 Nov`. */
function writeToday(): string {
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(new Date())
}

/** Waits for what the server counts within a second and the page asks for again. */
async function untilSeen(tab: Page, find: () => { count(): Promise<number> }): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    if ((await find().count()) > 0) return
    await tab.waitForTimeout(500)
    await tab.reload()
    await settle(tab)
  }
  assert.fail('the page does not show it')
}
