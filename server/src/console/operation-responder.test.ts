import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedInOperator } from '../../tests/console-client.ts'
import { recordPersona } from '../../tests/record-persona.ts'
import { startTestService } from '../../tests/test-service.ts'
import { conflict } from '../admin/problem.ts'
import { Strict } from '../core/schema/fields.ts'
import { defineAccountOperation } from './define-operation.ts'
import { OperationResponder } from './operation-responder.ts'

test('what an operation does with each answer of a database waits for a turn of its organization', async () => {
  const api = await startTestService()
  const acme = await api.newOrganization()
  await recordPersona(acme, 'prime')
  const { cookie } = await signedInOperator(api, { organizationId: acme.id, email: 'v@example.com', role: 'viewer' })
  const responder = new OperationResponder(api.service.installation)
  const admitted = await responder.admit({
    path: { access: 'operator', name: 'decisions.list', organization: acme.id, environment: 'sandbox' },
    token: cookie!.split('=', 2)[1],
  })
  assert.ok(!('refused' in admitted))
  assert.equal(admitted.party, acme.id)

  const { promise: firstAsked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: firstTurn, resolve: begin } = Promise.withResolvers<void>()
  let isAnswered = false
  const answering = responder
    .respond(admitted, {
      input: {},
      requestId: 'req_test',
      origin: api.service.urls.console!,
      deviceCookie: undefined,
      client: { address: '127.0.0.1', userAgent: '' },
      signal: new AbortController().signal,
      turn: () => {
        ask()
        return firstTurn
      },
    })
    .finally(() => {
      isAnswered = true
    })
  await Promise.race([firstAsked, answering])
  await api.service.installation.storage.control.query('SELECT 1')
  assert.equal(isAnswered, false)
  begin()
  const answer = await answering
  assert.ok('output' in answer)
})

test('a problem after the end of a session still clears its cookie, and what was written stays', async () => {
  const api = await startTestService()
  const acme = await api.newOrganization()
  const client = await signedInOperator(api, { organizationId: acme.id, email: 'w@example.com', role: 'viewer' })
  const responder = new OperationResponder(api.service.installation)
  const admitted = await responder.admit({
    path: { access: 'account', name: 'sign-in.end' },
    token: client.cookie!.split('=', 2)[1],
  })
  assert.ok(!('refused' in admitted))
  const operation = defineAccountOperation({
    summary: 'End the session, then refuse',
    input: Strict({}),
    audit: ['operator.session_ended'],
    async handle({ session }) {
      await session.end()
      throw conflict('too_late', 'It is too late.')
    },
  })
  const answer = await responder.respond(
    { ...admitted, operation },
    {
      input: {},
      requestId: 'req_test',
      origin: api.service.urls.console!,
      deviceCookie: undefined,
      idempotencyKey: 'once',
      client: { address: '127.0.0.1', userAgent: '' },
      signal: new AbortController().signal,
      turn: async () => {},
    },
  )
  assert.deepEqual(answer, {
    refused: { status: 409, code: 'too_late', message: 'It is too late.' },
    newToken: null,
  })
  assert.equal((await client.call('account/account.show')).status, 401)
})
