import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { openStorage } from '../src/store/storage.ts'
import { exampleTransaction } from './example-transaction.ts'
import { firstRunKey, postJson, runCli, startServiceProcess } from './service-process.ts'
import { createTestStorage } from './test-storage.ts'

const KILLS = 3
const WRITERS = 8

const testStorage = await createTestStorage()
after(() => testStorage.remove())

test('after kill -9 the service has every acknowledged write and no half-written change', async (t) => {
  let service = await startServiceProcess(testStorage.env)
  const { ports } = service
  const key = firstRunKey(testStorage.dataDir)
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    postJson({ port: ports.sandbox, path }, { key, body, headers })
  const acknowledged: {
    externalId: string
    answer: string
    batchKey: string
    batch: unknown
    path: string
    batchAnswer: string
  }[] = []

  for (let kill = 0; kill < KILLS; kill++) {
    let stopped = false
    let count = 0
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      while (!stopped) {
        const externalId = `k${kill}-w${writer}-${count++}`
        try {
          const entity = await post('/v1/entities', { external_id: externalId })
          const path = `/v1/entities/${JSON.parse(entity.text).id}/transactions`
          const batch = { transactions: ['t1', 't2', 't3'].map((id) => exampleTransaction(id)) }
          const answer = await post(path, batch, { 'Idempotency-Key': externalId })
          if (entity.status === 201 && answer.status === 201) {
            acknowledged.push({
              externalId,
              answer: entity.text,
              batchKey: externalId,
              batch,
              path,
              batchAnswer: answer.text,
            })
          }
        } catch {
          // The connection broke before the answer: the write may be kept or lost, because it was not acknowledged.
        }
      }
    })
    const target = acknowledged.length + 40
    while (acknowledged.length < target) await new Promise((resolve) => setTimeout(resolve, 5))
    service.child.kill('SIGKILL')
    await service.exited
    stopped = true
    await Promise.all(writers)
    service = await startServiceProcess(testStorage.env, ports)
  }

  for (const { externalId, answer, batchKey, batch, path, batchAnswer } of acknowledged) {
    const again = await post('/v1/entities', { external_id: externalId })
    assert.equal(again.status, 200)
    assert.equal(JSON.parse(again.text).id, JSON.parse(answer).id)
    const retried = await post(path, batch, { 'Idempotency-Key': batchKey })
    assert.equal(retried.text, batchAnswer, 'a retry repeats the acknowledged answer')
  }
  assert.equal(await service.stop(), 0)

  const storage = await openStorage(readConfig(testStorage.env))
  const entities = await storage.environments.sandbox.query(
    `SELECT entities.id, entities.version, (SELECT count(*) FROM transactions WHERE transactions.entity_id = entities.id) AS transactions,
       (SELECT count(*) FROM audit_entries WHERE trail_id = entities.id) AS entries
     FROM entities`,
  )
  assert.ok(entities.length >= acknowledged.length)
  for (const { id, version, transactions, entries } of entities) {
    assert.ok(
      (version === 1 && transactions === 0 && entries === 1) || (version === 2 && transactions === 3 && entries === 2),
      `${id} is half written`,
    )
  }
  await storage.close()
  const verified = runCli(testStorage.env, 'audit', 'verify')
  assert.equal(verified.status, 0, verified.stdout)
  t.diagnostic(`${acknowledged.length} acknowledged pairs of writes, ${KILLS} kills, 0 lost`)
})
