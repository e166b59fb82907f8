/** Who acted, as the audit log tells it: each actor came to be by an entry, and operators had signed in. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { disableKey, enableKey, revokeKey, rotateKey } from '../src/admin/manage-keys.ts'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import type { AuditActor } from '../src/core/audit/audit-entry.ts'
import { auditEntryRow } from '../src/store/write-path/record.ts'
import { byService } from './acts.ts'
import { signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'

const DAY_MS = 86_400_000
let nowMs = Date.parse('2026-11-15T09:30:00.000Z')
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

test('acts of an API key after its revocation, its end, or while it is disabled are named once', async () => {
  const minutes = (count: number) => nowMs + count * 60_000
  const by = { ...byService(acme.id), reason: 'test' }
  const newKey = (expiresAt?: string) =>
    acme.newKey('sandbox', ['usage:read'], expiresAt === undefined ? {} : { expiresAt })
  const at = new Date(nowMs).toISOString()
  const revoked = await newKey()
  await revokeKey(installation, by, revoked.id)
  const disabled = await newKey()
  await disableKey(installation, by, disabled.id)
  const rotated = await newKey()
  await rotateKey(installation, by, { id: rotated.id, grace: 'now' })
  const expired = await newKey(new Date(minutes(1)).toISOString())
  const acting = (id: string, atMs: number) => act({ type: 'api_key', id }, { atMs })

  for (const { id } of [revoked, disabled, rotated]) await acting(id, nowMs + 1_000)
  assert.deepEqual((await problems()).filter(isAboutPower), [], 'requests that had begun are recorded a moment later')

  const late = await Promise.all([revoked, disabled, rotated, expired].map(({ id }) => acting(id, minutes(5))))
  await acting(revoked.id, minutes(6))
  assert.deepEqual((await problems()).filter(isAboutPower).sort(), [
    ...[
      `The API key ${revoked.id} acted (entry ${late[0]}), although it was revoked at ${at}.`,
      `The API key ${disabled.id} acted (entry ${late[1]}), although it was disabled at ${at}.`,
      `The API key ${rotated.id} acted (entry ${late[2]}), although it was to retire at ${at}.`,
      `The API key ${expired.id} acted (entry ${late[3]}), although it was to expire at ${new Date(minutes(1)).toISOString()}.`,
    ].sort(),
  ])
})

test('a key that was enabled again may act', async () => {
  const by = { ...byService(acme.id), reason: 'test' }
  const before = (await problems()).filter(isAboutPower).length
  const { id } = await acme.newKey('sandbox', ['usage:read'])
  await disableKey(installation, by, id)
  nowMs += 10 * 60_000
  await enableKey(installation, by, id)
  await act({ type: 'api_key', id }, { atMs: nowMs + 600_000 })
  assert.equal((await problems()).filter(isAboutPower).length, before)
})

test('acts of an operator after the removal are named, in the console and by command', async () => {
  const eve = await signedInOperator(api, { organizationId: acme.id, email: 'eve@example.com', role: 'admin' })
  const path = `${acme.id}/sandbox/team.remove`
  const removed = await ada.call(path, { operator_id: eve.operatorId, reason: 'Left the company.' })
  assert.equal(removed.status, 200, JSON.stringify(removed.body))
  const at = new Date(nowMs).toISOString()
  const late = await act({ type: 'operator', id: eve.operatorId }, { atMs: nowMs + 300_000, via: 'eve (uid 1000)' })
  assert.ok(
    (await problems()).includes(
      `The operator ${eve.operatorId} acted (entry ${late}), although it was removed at ${at}.`,
    ),
  )
})

function isAboutPower(problem: string): boolean {
  return problem.includes('although it was')
}
