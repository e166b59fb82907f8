import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type AuditEntry, leafHashOf } from './audit-entry.ts'
import { leafHash } from './merkle-tree.ts'

const entry: AuditEntry = {
  id: 'aud_1',
  trail_id: 'ent_1',
  type: 'decision.created',
  occurred_at: '2026-03-01T09:30:00.000Z',
  actor: { type: 'api_key', id: 'key_1' },
  request_id: 'req_1',
  subject: { type: 'decision', id: 'dec_1' },
  data: { verdict: 'approve', limit: 2500 },
}

describe('audit entry', () => {
  it('has a fixed leaf hash over fixed bytes', () => {
    const bytes =
      '{"entry":{"actor":{"id":"key_1","type":"api_key"},"data":{"limit":2500,"verdict":"approve"},"id":"aud_1",' +
      '"occurred_at":"2026-03-01T09:30:00.000Z","request_id":"req_1","subject":{"id":"dec_1","type":"decision"},' +
      '"trail_id":"ent_1","type":"decision.created"},"format":"verdigraph.audit-entry.v1","organization_id":"org_1"}'
    assert.equal(leafHashOf('org_1', entry), leafHash(bytes))
    assert.equal(leafHashOf('org_1', entry), '7cd2b0f43280c49ed1b5c16e0f7657d844837583c133f5fa1b9819663d0678cc')
  })

  it('has another leaf hash if any member or the organization differs', () => {
    const variants: AuditEntry[] = [
      { ...entry, id: 'aud_2' },
      { ...entry, trail_id: 'ent_2' },
      { ...entry, type: 'decision.reviewed' },
      { ...entry, occurred_at: '2026-03-01T09:30:00.001Z' },
      { ...entry, actor: { type: 'operator', id: 'key_1' } },
      { ...entry, actor: { type: 'api_key', id: 'key_2' } },
      { ...entry, request_id: null },
      { ...entry, subject: { type: 'entity', id: 'dec_1' } },
      { ...entry, subject: { type: 'decision', id: 'dec_2' } },
      { ...entry, data: { verdict: 'approve', limit: 2500.01 } },
      { ...entry, data: { verdict: 'approve' } },
    ]
    const hashes = [leafHashOf('org_2', entry), ...[entry, ...variants].map((variant) => leafHashOf('org_1', variant))]
    assert.equal(new Set(hashes).size, hashes.length)
  })

  it('has a leaf hash that does not depend on the order of its members', () => {
    const reversed = Object.fromEntries(Object.entries(entry).reverse())
    assert.equal(leafHashOf('org_1', reversed as unknown as AuditEntry), leafHashOf('org_1', entry))
  })
})
