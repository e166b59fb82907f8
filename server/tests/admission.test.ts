import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization('Acme')

test('beyond capacity requests are turned away at once, and those inside are answered', async () => {
  const { sandbox } = api.service.installation.stores
  const { commit } = sandbox
  const held: (() => void)[] = []
  sandbox.commit = async (change) => {
    await new Promise<void>((resolve) => held.push(resolve))
    return commit(change)
  }
  const asked = Array.from({ length: 200 }, (_, index) => acme.post('/v1/entities', { external_id: `busy-${index}` }))
  const refused = await firstAnswers(asked, 72)
  assert.ok(refused.every(({ status }) => status === 503))
  const [one] = refused
  assert.deepEqual([one!.body.error.code, one!.headers.get('Retry-After')], ['overloaded', '1'])

  sandbox.commit = commit
  for (const release of held) release()
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 201).length, 128)
  assert.equal((await acme.post('/v1/entities', { external_id: 'busy-0' })).status, 200, 'and there is room again')
})

/** The first answers to come in, however many are still awaited. */
function firstAnswers<T>(asked: readonly Promise<T>[], count: number): Promise<T[]> {
  const answers: T[] = []
  return new Promise((resolve, reject) => {
    for (const one of asked) {
      one.then((answer) => {
        answers.push(answer)
        if (answers.length === count) resolve(answers)
      }, reject)
    }
  })
}
