import { canonicalJson } from '../../core/canonical-json.ts'
import type { NewRow } from '../../store/schema/tables.ts'
import type { DomainEvent } from '../../store/write-path/record.ts'
import { recordSha256 } from '../../store/write-path/record-hash.ts'
import type { BatchPlan } from './plan-batch.ts'

/** The record of what a batch replaced or voided, with the event that announces it. */
export interface CorrectionRecord {
  row: NewRow<'transaction_corrections'>
  event: DomainEvent
}

/** Records what the corrected and voided transactions of a batch were; undefined if it has none. */
export function correctionOf(
  { replaced }: Pick<BatchPlan, 'replaced'>,
  { organizationId, batch, now }: { organizationId: string; batch: { id: string; entityId: string }; now: string },
): CorrectionRecord | undefined {
  if (replaced.length === 0) return undefined
  const row = { id: batch.id, entity_id: batch.entityId, replaced: canonicalJson(replaced), created_at: now }
  const voided = replaced.filter(({ action }) => action === 'void').length
  return {
    row,
    event: {
      type: 'transactions.corrected',
      subject: { type: 'transaction_batch', id: batch.id },
      trailId: batch.entityId,
      data: {
        entity_id: batch.entityId,
        batch_id: batch.id,
        corrected: replaced.length - voided,
        voided,
        record_sha256: recordSha256<'transaction_corrections'>(organizationId, row),
      },
    },
  }
}
