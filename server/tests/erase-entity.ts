import type { Installation } from '../src/installation/installation.ts'
import { auditEntryRow } from '../src/store/write-path/record.ts'

/** Approves the erasure of an entity of the sandbox, as two operators do; returns the id of its entry. */
export async function approveErasure(
  { stores, newId, nowMs }: Installation,
  organizationId: string,
  entityId: string,
): Promise<string> {
  const entity = await stores.sandbox.entities.find({ organizationId, id: entityId })
  const now = new Date(nowMs()).toISOString()
  const entry = auditEntryRow(
    { organizationId, actor: { type: 'operator', id: 'opr_two' }, now, requestId: null, newId },
    {
      type: 'entity.erased',
      trailId: entityId,
      subject: { type: 'entity', id: entityId },
      data: { entity_id: entityId, reason: 'Asked to be forgotten.', proposed_by: 'opr_one' },
    },
  )
  const { lost } = await stores.sandbox.commit({
    organizationId,
    newErasures: [{ entity_id: entityId, version: entity!.version, entry_id: entry.id, approved_at: now }],
    auditEntries: [entry],
  })
  if (lost) throw new Error(`the erasure lost: ${lost}`)
  return entry.id
}
