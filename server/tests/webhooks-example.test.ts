import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { listDeliveries, redeliver } from '../src/admin/manage-deliveries.ts'
import { addEndpoint, rotateSecret } from '../src/admin/manage-webhooks.ts'
import { byService } from './acts.ts'
import { freePorts } from './service-process.ts'
import { startTestService } from './test-service.ts'
import { until } from './webhook-receiver.ts'

const EXAMPLE = join(import.meta.dirname, '../../docs/examples/webhook-receiver.js')

test('the receiver in the docs accepts signed events, refuses forged ones, and handles a repeated event once', async () => {
  const api = await startTestService({ env: { WEBHOOKS_ALLOW_LOOPBACK: 'true' } })
  const acme = await api.newOrganization()
  const { sandbox: port } = await freePorts()
  const act = byService(acme.id)
  const endpoint = await addEndpoint(api.service.installation, act, {
    url: `http://127.0.0.1:${port}/`,
    description: '',
    eventTypes: ['entity.created'],
  })
  const example = spawn(process.execPath, [EXAMPLE], {
    env: { PATH: process.env.PATH, WEBHOOK_SECRET: endpoint.secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  after(() => example.kill())
  let output = ''
  example.stdout.on('data', (data) => {
    output += data
  })
  await until('it listens', () => output.includes('listening'))

  const forged = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{"type":"decision.created"}' })
  assert.equal(forged.status, 400)

  const { body: entity } = await acme.post('/v1/entities', { external_id: 'example' })
  await until('it has received the event', () => output.includes(entity.id))
  // During a rotation both secrets sign, so a receiver that has only the old one still accepts the event.
  await rotateSecret(api.service.installation, act, { id: endpoint.id })
  const { body: second } = await acme.post('/v1/entities', { external_id: 'rotated' })
  await until('it has received the second event', () => output.includes(second.id))

  const newest = async () => (await listDeliveries(api.service.installation, act, { id: endpoint.id, limit: 1 }))[0]
  await until('the attempt is recorded', async () => (await newest())?.state === 'delivered')
  const what = { eventId: (await newest())!.event_id }
  await redeliver(api.service.installation, act, { id: endpoint.id, what })
  await until('it was sent again', async () => (await newest())?.attempts === 2)
  assert.equal(output.split(second.id).length - 1, 1, 'the repeated event is handled once')
  assert.doesNotMatch(output, /decision/)
})
