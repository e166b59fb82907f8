import type { AuditEntryType } from '../../core/audit/audit-data.ts'
import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'
import { dataOf } from '../write-path/entry-data.ts'
import { recordSha256 } from '../write-path/record-hash.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { type IsAuthentic, type StoredEntry, sealedLeaf } from './stored-entry.ts'

/** What a step does to an entity once a second operator approved it. */
export const STEP_EFFECTS = ['erased', 'held', 'lifted'] as const
export type StepEffect = (typeof STEP_EFFECTS)[number]

/** How far a step has come. */
export type StepState = 'proposed' | 'approved' | 'withdrawn'

/** The types of the audit entries of steps. */
const ENTRY_TYPES = {
  erased: {
    proposed: 'entity.erasure_proposed',
    approved: 'entity.erased',
    withdrawn: 'entity.erasure_withdrawn',
  },
  held: { proposed: 'entity.hold_proposed', approved: 'entity.hold_set', withdrawn: 'entity.hold_withdrawn' },
  lifted: {
    proposed: 'entity.hold_lift_proposed',
    approved: 'entity.hold_lifted',
    withdrawn: 'entity.hold_lift_withdrawn',
  },
} as const satisfies Record<StepEffect, Record<StepState, AuditEntryType>>

const HOLD_TYPES: readonly AuditEntryType[] = [ENTRY_TYPES.held.approved, ENTRY_TYPES.lifted.approved]

/** The types of audit entries whose subject is a row of `entity_steps`: all but an approved erasure. */
export const STEP_ENTRY_TYPES: readonly AuditEntryType[] = STEP_EFFECTS.flatMap((effect) =>
  Object.values(ENTRY_TYPES[effect]).filter((type) => type !== 'entity.erased'),
)

/** The type of the audit entry of a step. */
export function stepEntryType<E extends StepEffect, S extends StepState>(effect: E, step: S) {
  return ENTRY_TYPES[effect][step]
}

/** A step that the log confirms. */
export interface ConfirmedStep {
  effect: StepEffect
  actor_id: string
  taken_at: string
  /** Of an approved step, the operator who proposed it. */
  proposed_by: string | null
  /** Null if the row with the reason was altered or deleted with SQL. */
  reason: string | null
}

/** What operators proposed about an entity, and whether it is held against erasure. */
export interface EntityStanding {
  /** The hold that was set and not lifted. */
  hold: ConfirmedStep | undefined
  /** What waits for a second operator, at most one of each effect. Each approved step ends all proposals before it. */
  proposals: ConfirmedStep[]
}

/**
 * Reads of the steps about entities. What stands is read from the entries of the log that this service wrote: a row that was
 * inserted with SQL proposes nothing, and a deleted one lifts no hold.
 */
export function entityStepQueries(database: Database, isAuthentic: IsAuthentic) {
  async function entries(condition: string, values: readonly unknown[]): Promise<StoredEntry[]> {
    const found = await database.query<StoredEntry & Row>(
      `SELECT ${ENTRY_COLUMNS}, ${sealedLeaf('entry')} AS sealed_leaf FROM audit_entries AS entry
       WHERE entry.org_id = $1 AND ${condition} AND entry.actor_type <> 'api_key' ORDER BY entry.trail_id, entry.seq`,
      values,
    )
    return found.filter(isAuthentic)
  }

  async function described(organizationId: string, steps: readonly StoredEntry[]): Promise<Map<string, ConfirmedStep>> {
    const rows = await database.query<RowOf<'entity_steps'> & Row>(
      `SELECT ${columnsOf('entity_steps').join(', ')} FROM entity_steps WHERE org_id = $1 AND id = ANY($2::text[])`,
      [organizationId, steps.map(({ subject_id }) => subject_id)],
    )
    const reasons = new Map(rows.map(({ org_id, ...row }) => [recordSha256<'entity_steps'>(org_id, row), row.reason]))
    return new Map(
      steps.map((entry) => {
        const { record_sha256, proposed_by } = dataOf(entry)
        const step = {
          effect: effectOf(entry.type),
          actor_id: entry.actor_id,
          taken_at: entry.occurred_at,
          proposed_by: typeof proposed_by === 'string' ? proposed_by : null,
          reason: reasons.get(String(record_sha256)) ?? null,
        }
        return [entry.id, step]
      }),
    )
  }

  return {
    /** What stands about an entity now. */
    async standing(organizationId: string, entityId: string): Promise<EntityStanding> {
      const types = [...STEP_ENTRY_TYPES]
      const steps = await entries('entry.type = ANY($3::text[]) AND entry.trail_id = $2', [
        ...[organizationId, entityId],
        types,
      ])
      let hold: StoredEntry | undefined
      const proposals = new Map<StepEffect, StoredEntry>()
      for (const entry of steps) {
        const effect = effectOf(entry.type)
        const { proposed, withdrawn } = ENTRY_TYPES[effect]
        if (entry.type === proposed) proposals.set(effect, entry)
        else if (entry.type === withdrawn) proposals.delete(effect)
        else {
          hold = effect === 'held' ? entry : undefined
          proposals.clear()
        }
      }
      const known = await described(organizationId, [...(hold ? [hold] : []), ...proposals.values()])
      return {
        hold: hold && known.get(hold.id),
        proposals: [...proposals.values()].map(({ id }) => known.get(id)!),
      }
    },

    /** The holds of an organization that were set and not lifted, by entity. */
    async holds(organizationId: string): Promise<Map<string, ConfirmedStep>> {
      const steps = await entries('entry.type = ANY($2::text[])', [organizationId, HOLD_TYPES])
      const newest = new Map(steps.map((entry) => [entry.trail_id, entry]))
      const held = [...newest.values()].filter(({ type }) => type === ENTRY_TYPES.held.approved)
      const known = await described(organizationId, held)
      return new Map(held.map(({ trail_id, id }) => [trail_id, known.get(id)!]))
    },
  }
}

function effectOf(type: string): StepEffect {
  return STEP_EFFECTS.find((effect) => Object.values<string>(ENTRY_TYPES[effect]).includes(type))!
}
