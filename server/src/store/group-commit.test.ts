import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from './change.ts'
import type { Database } from './database.ts'
import { GroupCommit } from './group-commit.ts'

const org_id = 'org_1'
const decision = (entity_id: string): Change => ({
  latestDecisions: [
    { org_id, entity_id, decision_id: 'dec_1', request: '{}', verdict: 'approve', announced_verdict: 'approve' },
  ],
})
const ingest = (id: string) => ({ changedEntities: [{ org_id, id }] }) as unknown as Change
const done: Change = { doneConsequences: [{ org_id, kind: 'reevaluation', entity_id: 'ent_1', mark: 'm' }] }

/** How many statements changes that are handed in together are written by. */
async function statementsFor(...changes: Change[]): Promise<number> {
  let statements = 0
  const query = async () => {
    statements += 1
    return []
  }
  const writes = new GroupCommit({ query } as unknown as Database)
  await Promise.all(changes.map((change) => writes.commit(change)))
  return statements
}

test('what can share a statement does', async () => {
  assert.equal(await statementsFor(decision('ent_1'), decision('ent_1'), decision('ent_2'), ingest('ent_3')), 1)
})

test('an entity that is decided on and changed at once is not written twice by one statement', async () => {
  assert.equal(await statementsFor(decision('ent_1'), ingest('ent_1')), 2)
  assert.equal(await statementsFor(ingest('ent_1'), decision('ent_1')), 2)
})

test('consequences that are done are taken away by a statement of their own', async () => {
  assert.equal(await statementsFor(decision('ent_1'), done, decision('ent_2')), 3)
})
