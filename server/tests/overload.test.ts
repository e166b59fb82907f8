import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization('Acme')

test('requests over capacity get 503 at once, and the admitted ones are answered', async () => {
  const { sandbox } = api.service.installation.stores
  const { commit } = sandbox
  const held: (() => void)[] = []
  sandbox.commit = async (change) => {
    await new Promise<void>((resolve) => held.push(resolve))
    return commit(change)
  }
  const requests = Array.from({ length: 200 }, (_, index) =>
    acme.post('/v1/entities', { external_id: `busy-${index}` }),
  )
  const refused = await firstAnswers(requests, 72)
  assert.ok(refused.every(({ status }) => status === 503))
  const [one] = refused
  assert.deepEqual([one!.body.error.code, one!.headers.get('Retry-After')], ['overloaded', '1'])

  sandbox.commit = commit
  for (const release of held) release()
  const statuses = (await Promise.all(requests)).map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 201).length, 128)
  assert.equal(
    (await acme.post('/v1/entities', { external_id: 'busy-0' })).status,
    200,
    'the server accepts requests again',
  )
})

/** The first answers to arrive, without waiting for the others. */
function firstAnswers<T>(requests: readonly Promise<T>[], count: number): Promise<T[]> {
  const answers: T[] = []
  return new Promise((resolve, reject) => {
    for (const request of requests) {
      request.then((answer) => {
        answers.push(answer)
        if (answers.length === count) resolve(answers)
      }, reject)
    }
  })
}
