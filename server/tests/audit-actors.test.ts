/** Who acted, as the audit log tells it: each actor came to be by an entry, and operators had signed in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import type { AuditActor } from '../src/core/audit/audit-entry.ts'
import { auditEntryRow } from '../src/store/write-path/record.ts'
import { signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'

const DAY_MS = 86_400_000
const nowMs = Date.parse('2026-11-15T09:30:00.000Z')
const api = await startTestService({ nowMs: () => nowMs })
const { installation } = api.service
const acme = await api.newOrganization('Acme')
const ada = await signedInOperator(api, { organizationId: acme.id, email: 'ada@example.com', role: 'owner' })

/** Writes an entry as a program with the master key could: its MAC is valid. */
async function act(actor: AuditActor, { atMs = nowMs, via }: { atMs?: number; via?: string } = {}): Promise<string> {
  const now = new Date(atMs).toISOString()
  const entry = auditEntryRow(
    { organizationId: acme.id, actor, now, requestId: null, newId: installation.newId },
    {
      type: 'live_gate.closed',
      trailId: acme.id,
      subject: { type: 'organization', id: acme.id },
      data: { reason: 'test', ...(via && { via }) },
    },
  )
  await installation.stores.sandbox.commit({ organizationId: acme.id, auditEntries: [entry] })
  return entry.id
}

async function problems(): Promise<string[]> {
  const report = await verifyAuditLog({
    organizationId: acme.id,
    environment: 'sandbox',
    store: installation.stores.sandbox,
    people: installation.stores.production,
    control: installation.storage.control,
    publicKeys: [installation.masterKey.auditSigningKey('sandbox').publicKey],
  })
  return report.problems
}

test('acts of an operator who had signed in, and commands, are in order', async () => {
  await acme.post('/v1/entities', { external_id: 'x' })
  await act({ type: 'operator', id: ada.operatorId })
  await act({ type: 'operator', id: ada.operatorId }, { atMs: nowMs + 13 * DAY_MS })
  await act({ type: 'operator', id: ada.operatorId }, { atMs: nowMs - DAY_MS, via: 'alice (uid 1000)' })
  assert.deepEqual(await problems(), [])
})

test('an API key and an operator that no entry created are named, with the first entry of theirs', async () => {
  const [byKey, byOperator] = [
    await act({ type: 'api_key', id: 'key_forged' }),
    await act({ type: 'operator', id: 'opr_forged' }, { via: 'mallory (uid 0)' }),
  ]
  await act({ type: 'api_key', id: 'key_forged' })
  const found = await problems()
  assert.deepEqual(
    found.filter((problem) => /came to be/.test(problem)),
    [
      `The API key key_forged acted (entry ${byKey}), but no entry says how it came to be.`,
      `The operator opr_forged acted (entry ${byOperator}), but no entry says how it came to be.`,
    ],
  )
})

test('an act before the first sign-in, or two weeks after the last, is named once', async () => {
  const [early] = [await act({ type: 'operator', id: ada.operatorId }, { atMs: nowMs - DAY_MS })]
  await act({ type: 'operator', id: ada.operatorId }, { atMs: nowMs + 15 * DAY_MS })
  assert.deepEqual(
    (await problems()).filter((problem) => /session/.test(problem)),
    [`The operator ${ada.operatorId} acted without a session (entry ${early}): no sign-in within two weeks before.`],
  )
})
