import { guarded, plain } from './columns.ts'

/** The tables of what operators do with an entity, two of them at a time: merges, legal holds and erasures. */
export const entityStepTables = {
  entity_merges: plain({
    org_id: 'text',
    id: 'text',
    entity_id: 'text',
    effect: 'text',
    step: 'text',
    subject_id: 'text',
    members: 'text',
    version: 'bigint',
    reason: 'text',
    actor_type: 'text',
    actor_id: 'text',
    taken_at: 'timestamptz',
  }),
  entity_steps: plain({
    org_id: 'text',
    id: 'text',
    entity_id: 'text',
    effect: 'text',
    step: 'text',
    reason: 'text',
    actor_type: 'text',
    actor_id: 'text',
    taken_at: 'timestamptz',
  }),
  erasures: guarded({
    org_id: 'text',
    entity_id: 'text',
    entry_id: 'text',
    approved_at: 'timestamptz',
    done_at: 'timestamptz?',
    decisions_done_at: 'timestamptz?',
  }),
}
