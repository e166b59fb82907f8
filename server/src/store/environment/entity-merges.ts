import { LRUCache } from 'lru-cache'
import { batchedRead } from '../database/batched-read.ts'
import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'
import { dataOf } from '../write-path/entry-data.ts'
import { recordSha256 } from '../write-path/record-hash.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { type IsAuthentic, type StoredEntry, sealedLeaf } from './stored-entry.ts'

/** A step by which operators merge entities, or tell one of them apart: its part for one of the entities. */
export type MergeStep = RowOf<'entity_merges'>

const COLUMNS = columnsOf('entity_merges').join(', ')

/** How many steps of an entity are looked through for one that the log confirms; rows that it does not are forged. */
const STEPS_READ_MAX = 50

/** Merged entities of which a node keeps in memory what they are read with: it never changes for a step. */
const MERGES_CACHED_MAX = 10_000

/** SQL: the newest step that says which entities an entity is read with. */
export function newestMerge(organization: string, entity: string): string {
  return `(SELECT id, taken_at FROM entity_merges WHERE org_id = ${organization} AND entity_id = ${entity} AND step = 'approved'
    ORDER BY version DESC LIMIT 1)`
}

/** SQL: the same in the organization `$1`; in one without any merge it looks at no entity. */
export function newestMergeIfAny(entity: string): string {
  return `(SELECT newest.id FROM ${newestMerge('$1', entity)} AS newest WHERE EXISTS (SELECT FROM entity_merges WHERE org_id = $1))`
}

/** Reads of merges. A step counts only if the log confirms it: a row that was inserted with SQL merges nothing. */
export function entityMergeQueries(database: Database, isAuthentic: IsAuthentic) {
  const confirmed = new LRUCache<string, readonly string[]>({ max: MERGES_CACHED_MAX })

  async function firstConfirmed(organizationId: string, steps: readonly MergeStep[]): Promise<MergeStep | undefined> {
    const entries = await database.query<StoredEntry & Row>(
      `SELECT ${ENTRY_COLUMNS}, ${sealedLeaf('entry')} AS sealed_leaf FROM audit_entries AS entry
       WHERE org_id = $1 AND subject_id = ANY($2::text[]) AND type = ANY($3::text[]) AND actor_type <> 'api_key'`,
      [
        organizationId,
        steps.map(({ id }) => id),
        [...Object.values(ENTRY_TYPES).flatMap(Object.values<string>), 'record.redacted'],
      ],
    )
    return steps.find(({ org_id, ...step }) =>
      entries.some(
        (entry) =>
          entry.subject_id === step.id &&
          // An erasure takes the reason out of the step, and records what is left.
          (entry.type === entryTypeOf(step) || entry.type === 'record.redacted') &&
          dataOf(entry).record_sha256 === recordSha256<'entity_merges'>(org_id, step) &&
          isAuthentic(entry),
      ),
    )
  }

  /** The approved steps of an entity, newest first. */
  function approvedSteps(organizationId: string, entityId: string): Promise<MergeStep[]> {
    return database.query<MergeStep & Row>(
      `SELECT ${COLUMNS} FROM entity_merges WHERE org_id = $1 AND entity_id = $2 AND step = 'approved'
       ORDER BY version DESC LIMIT ${STEPS_READ_MAX}`,
      [organizationId, entityId],
    )
  }

  async function readMembers(organizationId: string, entityId: string): Promise<readonly string[]> {
    const steps = await approvedSteps(organizationId, entityId)
    const step = await firstConfirmed(organizationId, steps)
    const members = step ? step.members.split(' ') : [entityId]
    if (step && step.id === steps[0]!.id) confirmed.set(`${organizationId} ${step.id}`, members)
    return members
  }

  const membersOf = batchedRead<{ organizationId: string; entityId: string; mergeId: string }, readonly string[]>({
    keyText: ({ organizationId, entityId }) => `${organizationId} ${entityId}`,
    async load(keys) {
      const found = keys.map(async ({ organizationId, entityId, mergeId }) => {
        const members = confirmed.get(`${organizationId} ${mergeId}`) ?? (await readMembers(organizationId, entityId))
        return [`${organizationId} ${entityId}`, members] as const
      })
      return new Map(await Promise.all(found))
    },
  })

  /** The entities that an entity is read with, itself among them, sorted by id; `merge_id` is its newest step. */
  async function readWith(
    organizationId: string,
    { id, merge_id: mergeId }: { id: string; merge_id: string | null },
  ): Promise<readonly string[]> {
    if (mergeId === null) return [id]
    return (
      confirmed.get(`${organizationId} ${mergeId}`) ?? (await membersOf({ organizationId, entityId: id, mergeId }))!
    )
  }

  async function groupsOfSteps(
    organizationId: string,
    mergeIds: ReadonlyMap<string, string>,
  ): Promise<Map<string, readonly string[]>> {
    const groups = await Promise.all(
      [...mergeIds].map(async ([id, merge_id]) => [id, await readWith(organizationId, { id, merge_id })] as const),
    )
    return new Map(groups.filter(([, members]) => members.length > 1))
  }

  return {
    membersOf: readWith,

    /** Which of the entities with these newest steps are merged, with the entities that they are read with, sorted by id. */
    groupsOfSteps,

    /** The newest proposals about an entity that the log confirms, and that no step has overtaken. */
    async openProposals(organizationId: string, entityId: string): Promise<MergeStep[]> {
      const newest = await firstConfirmed(organizationId, await approvedSteps(organizationId, entityId))
      const proposals = await database.query<MergeStep & Row>(
        `SELECT ${COLUMNS} FROM entity_merges
         WHERE org_id = $1 AND entity_id = $2 AND step = 'proposed' AND version >= $3
         ORDER BY id DESC LIMIT ${STEPS_READ_MAX}`,
        [organizationId, entityId, newest?.version ?? 0],
      )
      const alike = Map.groupBy(proposals, (one) => `${one.effect} ${one.subject_id} ${one.members}`)
      const open = await Promise.all([...alike.values()].map((steps) => firstConfirmed(organizationId, steps)))
      return open.filter((one) => one !== undefined)
    },
  }
}

/** What a step does. */
export type MergeEffect = 'merged' | 'separated'

const ENTRY_TYPES = {
  merged: { proposed: 'entity.merge_proposed', approved: 'entity.merged' },
  separated: { proposed: 'entity.separation_proposed', approved: 'entity.separated' },
} as const

/** The type of the audit entry of a step. */
export function entryTypeOf({ effect, step }: { effect: string; step: string }) {
  return ENTRY_TYPES[effect as MergeEffect][step as 'proposed' | 'approved']
}
