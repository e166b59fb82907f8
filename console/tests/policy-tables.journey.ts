/** A decision table is drawn while its policy is written, and on the page of the policy that decides. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { stringify } from 'yaml'
import { activateDocument } from '../../server/tests/activate-document.ts'
import { bureauPolicy, documentedPart } from '../../server/tests/documented-policy.ts'
import { assertAccessible, changeTheme, openConsole, THEMES } from './browser.ts'

const testConsole = await openConsole()
const { api, organizationId, problems } = testConsole

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const tables = documentedPart('tables')
test('the field of a table is drawn while it is written, with the values that no row holds', async () => {
  const tab = await testConsole.open('policies')
  await tab.getByRole('link', { name: 'Write a version' }).click()
  const write = async (text: string) => {
    await tab.getByRole('textbox', { name: 'The text of the policy' }).click()
    await tab.keyboard.press('ControlOrMeta+a')
    await tab.evaluate((pasted) => navigator.clipboard.writeText(pasted), text)
    await tab.keyboard.press('ControlOrMeta+v')
  }
  const source = readFileSync(new URL('../../policies/bureau-snapshot-v1.yaml', import.meta.url), 'utf8')
  const withTables = (some: typeof tables) =>
    `${stringify({ tables: some })}\n${source.replace('version: bureau-snapshot-v1', 'version: with-table')}`
  await write(withTables([{ ...tables[0]!, rows: tables[0]!.rows.filter(({ row }) => row !== 'heavy') }]))
  await tab.getByText("table 'score_by_debt' has no row for debt 0.45 or more; add one").waitFor()
  await write(withTables(tables))
  const field = tab.getByRole('region', { name: 'Table score by debt' })
  await field.waitFor()
  assert.equal(await field.getByRole('cell', { name: 'Review heavy' }).count(), 2)
  await assertAccessible(tab, 'the editor with a table')
})

test('the page of the policy has the table, with the row that says what to do for each of its values', async () => {
  const { document } = bureauPolicy()
  await activateDocument(api.service.installation, { ...document, version: 'tabled', tables }, { organizationId })
  const tab = await testConsole.open('policies/tabled?tab=page')
  const field = tab.getByRole('region', { name: 'Table score by debt' })
  await field.waitFor()
  assert.deepEqual(await field.getByRole('row').evaluateAll((rows) => rows.map((row) => row.textContent)), [
    'debt',
    'scorebelow 0.30.3 to below 0.450.45 or moremissing',
    '600 or moreNothingstrongReviewheavyNothingno income',
    'below 600NothinglightCap the amountmiddlingReviewheavyNothingno income',
  ])
  for (const theme of THEMES) {
    await changeTheme(tab, theme)
    await assertAccessible(tab, `the page of a policy with a table (${theme})`)
  }
})
