/** An analyst finds an entity by its external id and by an identifier, and walks its graph to a bad node. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createKey } from '../../server/src/admin/manage-keys.ts'
import { SCOPES } from '../../server/src/security/scopes.ts'
import { byService } from '../../server/tests/acts.ts'
import { newConsequenceWorker } from '../../server/tests/consequence-worker.ts'
import { assertAccessibleEverywhere, openConsole, settle } from './browser.ts'

const testConsole = await openConsole()
const { api, organizationId, problems } = testConsole
const { installation } = api.service

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const { key } = await createKey(installation, byService(organizationId), {
  name: 'Journey',
  scopes: SCOPES,
  expiresAt: null,
})

async function post(path: string, body: object) {
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  const answer = await api.request('sandbox', path, { method: 'POST', key, body, headers })
  assert.ok(answer.status < 300, answer.text)
  return answer.body
}

const create = async (external_id: string, display_name: string, type: string): Promise<string> =>
  (await post('/v1/entities', { external_id, display_name, type, country: 'DE' })).id
const relate = (from: string, to: string, relationship: string) =>
  post(`/v1/entities/${from}/identity-links`, {
    related_entity_id: to,
    relationship,
    verification: { status: 'verified' },
  })

const nordwind = await create('customer-1042', 'Nordwind Bakery GmbH', 'business')
const jonas = await create('customer-7', 'Jonas Brandt', 'person')
const hafenkontor = await create('customer-9', 'Hafenkontor Catering', 'business')
const kiosk = await create('customer-11', 'Förde Kiosk', 'business')
await relate(nordwind, jonas, 'director')
await relate(jonas, hafenkontor, 'guarantor')
for (const id of [nordwind, kiosk])
  await post(`/v1/entities/${id}/identity-links`, {
    identifier: { type: 'phone', value: '+49 431 5550123' },
    verification: { status: 'unverified' },
  })
const decision = await post('/v1/underwrite', { entity_id: hafenkontor, product: 'marketplace_access' })
await post(`/v1/decisions/${decision.id}/outcomes`, { type: 'default', occurred_at: new Date().toISOString() })
await post(`/v1/entities/${nordwind}/transactions`, {
  transactions: Array.from({ length: 6 }, (_, month) => [
    {
      external_id: `in-${month}`,
      occurred_at: `2026-0${month + 4}-03T08:00:00Z`,
      amount: 9_000 + month * 500,
      direction: 'credit',
      currency: 'EUR',
    },
    {
      external_id: `out-${month}`,
      occurred_at: `2026-0${month + 4}-20T08:00:00Z`,
      amount: 7_500,
      direction: 'debit',
      currency: 'EUR',
    },
  ]).flat(),
})
await newConsequenceWorker(installation).drain()

const heading = (tab: Page, name: string) => tab.getByRole('heading', { level: 1, name }).waitFor()
const picture = (tab: Page) => tab.getByRole('region', { name: 'Picture of the neighbourhood' })

test('an entity is found by its external id, and its graph is walked by keyboard to the bad node', async () => {
  const tab = await testConsole.open('entities')
  await tab.getByRole('textbox', { name: /external id/ }).fill('customer-1042')
  await tab.keyboard.press('Enter')
  await tab.getByRole('link', { name: /Nordwind Bakery/ }).click()
  await heading(tab, 'Nordwind Bakery GmbH')
  await settle(tab)
  await tab.getByText('showing 3 of 3').waitFor()
  const bad = picture(tab).getByRole('link', { name: 'Hafenkontor Catering, business, bad outcome: default' })
  await bad.waitFor()
  assert.equal(await picture(tab).locator('g[data-bad]').count(), 2, 'both links of the path are marked')
  // Two steps along the path: the director, then the company that defaulted.
  await picture(tab)
    .getByRole('link', { name: /^Jonas Brandt/ })
    .focus()
  await tab.keyboard.press('Enter')
  await heading(tab, 'Jonas Brandt')
  await settle(tab)
  await picture(tab)
    .getByRole('link', { name: /^Hafenkontor Catering/ })
    .focus()
  await tab.keyboard.press('Enter')
  await heading(tab, 'Hafenkontor Catering')
  await settle(tab)
  await tab.getByText('Trust score').waitFor()
  await tab.getByText('decision.outcome_recorded').first().waitFor()
  await tab.close()
})

test('an entity is found by an identifier in any spelling, whose value never stands in the address', async () => {
  const tab = await testConsole.open('entities')
  await tab.getByText('Identifier', { exact: true }).click()
  await tab
    .getByRole('combobox', { name: 'Type of identifier' })
    .or(tab.getByRole('textbox', { name: 'Type of identifier' }))
    .first()
    .click()
  await tab.getByRole('option', { name: 'phone' }).click()
  await tab.getByRole('textbox', { name: 'Identifier, in full' }).fill('0049 431-555 01 23')
  await tab.keyboard.press('Enter')
  await tab.getByRole('link', { name: /Förde Kiosk/ }).waitFor()
  const { pathname, search, hash } = new URL(tab.url()) // the port may have the digits of the number by chance
  assert.match(pathname, /\/entities$/)
  assert.doesNotMatch(search + hash, /431|555/)
  await tab.getByRole('link', { name: /Nordwind Bakery/ }).click()
  await heading(tab, 'Nordwind Bakery GmbH')
  await tab.close()
})

test('the command menu finds an entity by the beginning of its name and by its own id', async () => {
  const tab = await testConsole.open('decisions')
  for (const text of ['förde', 'customer-11']) {
    await tab.keyboard.press('Control+k')
    await tab.getByRole('textbox', { name: 'Search and commands' }).fill(text)
    await tab.getByRole('button', { name: /^Förde Kiosk/ }).click()
    await tab.waitForURL(`**/entities/${kiosk}`)
    await tab.goBack()
  }
  await tab.close()
})

test('the same links stand in the table, and one hop leaves the far ones out', async () => {
  const tab = await testConsole.open(`entities/${nordwind}`)
  const table = tab.getByRole('region', { name: 'Links of the neighbourhood' })
  const rows = table.getByRole('row')
  await rows.filter({ hasText: 'guarantor' }).getByText('over Jonas Brandt').waitFor()
  await rows.filter({ hasText: 'guarantor' }).getByText('default').waitFor()
  await tab.getByText('1 hop', { exact: true }).click()
  await tab.getByText('showing 2 of 2').waitFor()
  assert.equal(await rows.filter({ hasText: 'guarantor' }).count(), 0)
  assert.match(tab.url(), /hops=1/)
  await tab.close()
})

test('the accounts of an entity and the sources of its data stand on its page', async () => {
  const id = await create('customer-12', 'Ada Lind', 'person')
  const booked = (external_id: string, balance_after: number, account: object) => ({
    external_id,
    occurred_at: '2026-09-03T08:00:00Z',
    amount: 10,
    direction: 'credit',
    currency: 'EUR',
    balance_after,
    account,
  })
  await post(`/v1/entities/${id}/transactions`, {
    transactions: [
      booked('a', 1_200, { id: 'DE89 3704 0044 0532 0130 00' }),
      booked('b', 8_000, { id: 'savings 4711', kind: 'savings', holders: 2 }),
    ],
    provided_by: { kind: 'aggregator', name: 'Kontoblick' },
  })
  const tab = await testConsole.open(`entities/${id}`)
  await heading(tab, 'Ada Lind')
  const rows = tab.getByRole('listitem')
  await rows.filter({ hasText: 'current ****3000' }).getByText('1,200').waitFor()
  const savings = rows.filter({ hasText: 'savings ****711' })
  await savings.getByText('2 holders').waitFor()
  await savings.getByText('8,000').waitFor()
  await rows.filter({ hasText: 'Kontoblick' }).getByText('transactions').waitFor()
  await tab.close()
  await assertAccessibleEverywhere(testConsole, `entities/${id}`)
})

test('the pages are accessible in both themes and at both widths', async () => {
  await assertAccessibleEverywhere(testConsole, 'entities')
  await assertAccessibleEverywhere(testConsole, `entities/${nordwind}`, {
    prepare: async (tab) => picture(tab).getByRole('link').first().waitFor(),
  })
})
