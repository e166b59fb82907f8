import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { SERVICE } from '../../tests/acts.ts'
import { createTestStorage } from '../../tests/test-storage.ts'
import { readConfig } from '../config.ts'
import { openInstallation } from '../installation/installation.ts'
import { insertOrganization, listOrganizations, renameOrganization } from '../store/control/organizations.ts'
import { createOrganization } from './manage-organizations.ts'

const testStorage = await createTestStorage()
const installation = await openInstallation(readConfig(testStorage.env))
await installation.storage.migrate()
after(async () => {
  await installation.close()
  await testStorage.remove()
})
const { control } = installation.storage
// Lower-cases İ to i, as servers with a Turkish locale or with C.UTF-8 do. JavaScript keeps the dot as a letter of its own.
const [collation] = await control.query<{ name: string }>(
  "SELECT quote_ident(collname) AS name FROM pg_collation WHERE collname IN ('pg_c_utf8', 'tr-x-icu') ORDER BY collname LIMIT 1",
)
await control.query(`ALTER TABLE organizations ALTER COLUMN name TYPE text COLLATE ${collation!.name}`)
const create = (name: string) => createOrganization(installation, SERVICE, name)

test('of organizations that are created at once under one name, one is created and the others are told its id', async () => {
  const answers = await Promise.allSettled(['Acme', 'ACME', 'acme', 'Acme'].map(create))
  const created = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  assert.equal(created.length, 1, JSON.stringify(answers))
  const organizations = await listOrganizations(control)
  assert.deepEqual(
    organizations.map(({ id }) => id),
    [created[0]!.id],
  )
  for (const answer of answers)
    if (answer.status === 'rejected')
      assert.match(answer.reason.message, new RegExp(`with the id ${created[0]!.id}\\.$`))
})

test('the database itself refuses a second organization of the name', async () => {
  const created_at = new Date().toISOString()
  assert.equal(await insertOrganization(control, { id: 'org_1', name: 'Globex', created_at }), true)
  assert.equal(await insertOrganization(control, { id: 'org_2', name: 'gLOBEX', created_at }), false)
  await assert.rejects(
    control.query("INSERT INTO organizations (id, name, created_at) VALUES ('org_3', 'GLOBEX', now())"),
    /organizations_by_name/,
  )
})

test('capitals beyond ASCII are the same letters too', async () => {
  await create('Äpfel')
  await assert.rejects(create('ÄPFEL'), { code: 'organization_exists' })
})

test('a name that only the database takes for the same is refused, for a new organization and for a renamed one', async () => {
  await create('istanbul')
  const other = await create('Ankara')
  await assert.rejects(create('İSTANBUL'), {
    code: 'organization_exists',
    message: 'There is an organization İSTANBUL already, in other capitals.',
  })
  assert.equal(await renameOrganization(control, { id: other.id, name: 'İSTANBUL' }), false)
  assert.equal(await renameOrganization(control, { id: other.id, name: 'ANKARA' }), true)
  const names = (await listOrganizations(control)).map(({ name }) => name)
  assert.deepEqual([names.includes('ANKARA'), names.includes('İSTANBUL')], [true, false])
})
