import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization('Acme')
const other = await api.newOrganization('Other')

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

test('an organization that holds its share of the slots through the API gets none in the console, and others get theirs', async () => {
  const [viewer, stranger] = await Promise.all(
    [acme, other].map(({ id }) =>
      signedInOperator(api, { organizationId: id, email: `viewer@${id.replace('_', '-')}.example`, role: 'viewer' }),
    ),
  )
  const { sandbox } = api.service.installation.stores
  const { commit } = sandbox
  const held: (() => void)[] = []
  const allHeld = new Promise<void>((resolve) => {
    sandbox.commit = async (change) => {
      await new Promise<void>((release) => {
        held.push(release)
        if (held.length === 128) resolve()
      })
      return commit(change)
    }
  })
  const requests = Array.from({ length: 128 }, (_, index) =>
    acme.post('/v1/entities', { external_id: `held-${index}` }),
  )
  await allHeld
  const refused = await viewer!.call(`${acme.id}/sandbox/policies.list`)
  assert.deepEqual(
    [refused.status, refused.body.error.code, refused.headers.get('Retry-After')],
    [503, 'overloaded', '1'],
  )
  assert.equal((await viewer!.call('account/account.show')).status, 200, 'the person is not the organization')
  assert.equal((await stranger!.call(`${other.id}/sandbox/policies.list`)).status, 200)
  assert.equal((await other.get('/v1/usage')).status, 200)
  assert.equal(await statusBeforeBody(acme.keys.sandbox), 503, 'refused before its body is read')
  sandbox.commit = commit
  for (const release of held) release()
  assert.ok((await Promise.all(requests)).every(({ status }) => status === 201))
  assert.equal((await viewer!.call(`${acme.id}/sandbox/policies.list`)).status, 200)
})

/** The status of the answer to a request whose body is announced and never sent. */
function statusBeforeBody(key: string): Promise<number> {
  const { hostname, port } = new URL(api.url('sandbox'))
  const headers = [`Authorization: Bearer ${key}`, 'Content-Type: application/json', 'Content-Length: 50000']
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.on('error', reject)
    socket.once('data', (bytes) => {
      socket.destroy()
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(bytes))?.[1]))
    })
    socket.write(`POST /v1/entities HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${headers.join('\r\n')}\r\n\r\n`)
  })
}

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
