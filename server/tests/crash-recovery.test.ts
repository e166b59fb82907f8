import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runCli, startServiceProcess } from './service-process.ts'
import { createTestStorage } from './test-storage.ts'

const ROUNDS = 3
const WRITERS = 8

const place = await createTestStorage()
after(() => place.remove())

test('killed without warning, the service has lost nothing that it acknowledged and kept nothing by halves', async (t) => {
  let service = await startServiceProcess(place.env)
  const { ports } = service
  const base = `http://127.0.0.1:${ports.sandbox}`
  const key = /sk_sandbox_\w+/.exec(readFileSync(join(place.dataDir, 'first-run.txt'), 'utf8'))![0]
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(base + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }
  const acknowledged: {
    externalId: string
    answer: string
    batchKey: string
    batch: unknown
    path: string
    batchAnswer: string
  }[] = []

  for (let round = 0; round < ROUNDS; round++) {
    let stopped = false
    let count = 0
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      while (!stopped) {
        const externalId = `r${round}-w${writer}-${count++}`
        try {
          const entity = await post('/v1/entities', { external_id: externalId })
          const path = `/v1/entities/${JSON.parse(entity.text).id}/transactions`
          const batch = {
            transactions: [1, 2, 3].map((n) => ({
              external_id: `t${n}`,
              occurred_at: '2026-10-01T00:00:00Z',
              amount: n,
              currency: 'EUR',
              direction: 'credit',
            })),
          }
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
          // The connection broke: what was under way may or may not have been kept, and nobody was told that it was.
        }
      }
    })
    const target = acknowledged.length + 40
    while (acknowledged.length < target) await new Promise((resolve) => setTimeout(resolve, 5))
    service.child.kill('SIGKILL')
    await service.exited
    stopped = true
    await Promise.all(writers)
    service = await startServiceProcess(place.env, ports)
  }

  for (const { externalId, answer, batchKey, batch, path, batchAnswer } of acknowledged) {
    const again = await post('/v1/entities', { external_id: externalId })
    assert.equal(again.status, 200)
    assert.equal(JSON.parse(again.text).id, JSON.parse(answer).id)
    const retried = await post(path, batch, { 'Idempotency-Key': batchKey })
    assert.equal(retried.text, batchAnswer, 'a retry gets the acknowledged answer')
  }
  service.child.kill('SIGTERM')
  assert.equal(await service.exited, 0)

  const { openStorage } = await import('../src/store/storage.ts')
  const { readConfig } = await import('../src/config.ts')
  const storage = await openStorage(readConfig(place.env))
  const halves = await storage.environments.sandbox.query(
    `SELECT entities.id, entities.version, (SELECT count(*) FROM transactions WHERE transactions.entity_id = entities.id) AS transactions,
       (SELECT count(*) FROM audit_entries WHERE trail_id = entities.id) AS entries
     FROM entities`,
  )
  for (const { id, version, transactions, entries } of halves) {
    assert.ok(
      (version === 1 && transactions === 0 && entries === 1) || (version === 2 && transactions === 3 && entries === 2),
      `${id} is half written`,
    )
  }
  await storage.close()
  const verified = runCli(place.env, 'audit', 'verify')
  assert.equal(verified.status, 0, verified.stdout)
  t.diagnostic(`${acknowledged.length} acknowledged pairs of writes, ${ROUNDS} kills, 0 lost`)
})
