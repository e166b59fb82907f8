/** A viewer reads decisions without names and transactions, and is told that they are hidden; exports are for other roles. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { signedInOperator } from '../../server/tests/console-client.ts'
import { assertAccessible, openConsole, settle } from './browser.ts'
import { caseOpener } from './review-cases.ts'

const testConsole = await openConsole()
const { api, organizationId, problems, url } = testConsole

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const { undecided } = await caseOpener(testConsole)
const { id, entityId } = await undecided('Vela Logistics', 6_000)
const name = 'Vela Trading S.r.l.'
const viewer = await signedInOperator(api, { organizationId, email: 'vic@fjordlend.example', role: 'viewer' })

async function openAsViewer(page: string): Promise<Page> {
  const tab = await testConsole.openSignedOut('/sign-in')
  const [cookie, value] = viewer.cookie!.split('=')
  await tab.context().addCookies([{ name: cookie!, value: value!, url }])
  await tab.goto(`${url}/${organizationId}/sandbox/${page}`)
  await settle(tab)
  return tab
}

test('a viewer sees a decision without names and proof, an entity without cash flow, and no export', async () => {
  const database = api.service.installation.storage.environments.sandbox
  await database.query('UPDATE entities SET display_name = $1 WHERE id = $2', [name, entityId])
  const decision = await openAsViewer(`decisions/${id}`)
  await decision.getByRole('heading', { name: 'Audit proof' }).waitFor()
  await decision.getByText('Not visible to your role.').first().waitFor()
  await decision.getByText('Vela Logistics').first().waitFor()
  assert.equal(await decision.getByText(name).count(), 0)
  await assertAccessible(decision, 'a decision that hides personal data')
  await decision.context().close()

  const entity = await openAsViewer(`entities/${entityId}`)
  await entity.getByRole('heading', { name: 'Cash flow' }).waitFor()
  await entity.getByText('Not visible to your role.').first().waitFor()
  assert.equal(await entity.getByText(name).count(), 0)
  await entity.goto(`${url}/${organizationId}/sandbox/entities`)
  await settle(entity)
  assert.equal(await entity.getByText('Identifier', { exact: true }).count(), 0)
  await entity.context().close()

  const list = await openAsViewer('decisions')
  await list.getByText('Vela Logistics').first().waitFor()
  assert.equal(await list.getByRole('button', { name: 'CSV' }).count(), 0)
  await list.context().close()

  const owner = await testConsole.open('decisions')
  await owner.getByText(name).first().waitFor()
  await owner.getByRole('button', { name: 'CSV' }).waitFor()
  await owner.close()
})
