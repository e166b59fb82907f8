import type { Installation } from '../installation/installation.ts'
import type { Operator } from '../store/control/operators.ts'
import type { EntityRow } from '../store/environment/entities.ts'
import { entryTypeOf, type MergeEffect } from '../store/environment/entity-merges.ts'
import type { NewRow } from '../store/schema/tables.ts'
import type { Change } from '../store/write-path/change.ts'
import { type AuditEntryRow, auditEntryRow, eventRow, type RecordContext } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'
import { membersOf } from '../underwriting/read-entity.ts'
import { actorOf, contextOf, type EnvironmentAct, type OperatorActor, permitted, type Reasoned, viaOf } from './act.ts'
import { isSamePerson } from './permissions.ts'
import { conflict, forbidden, invalid } from './problem.ts'
import { findEntity } from './show-entity.ts'
import { standingOperator } from './standing-operator.ts'

/** What a step made of the entities that it is about. */
export interface MergeStanding {
  effect: MergeEffect
  /** Proposed until a second operator does the same. */
  state: 'proposed' | 'done'
  /** The entity that joins the others, or is told apart from them. */
  entity_id: string
  /** The entities that are read as one after it; of a separation, those that stay together. */
  members: string[]
  proposed_by: string
}

/** A merge or a separation that waits for a second operator. */
export interface ProposedMerge extends MergeStanding {
  reason: string
  proposed_at: string
}

/** Which entities an entity is merged with, and what was proposed about it. */
export interface EntityMerges {
  /** The merged entities, itself among them; only itself if it is not merged. */
  members: string[]
  proposals: ProposedMerge[]
}

/** How many entities can be read as one: duplicates of one person are few, and each adds to the cost of a decision. */
export const MEMBERS_MAX = 10

/** How often a step is computed again because facts about the entities were recorded at the same moment. */
const ATTEMPTS_MAX = 20

/** An act that takes two operators. */
type MergingAct = Reasoned<EnvironmentAct<OperatorActor>>

/**
 * Makes two entities, and those that each is merged with, read as one. The first operator proposes it, a second one confirms by
 * doing the same. No fact moves: `separateEntity` undoes it exactly.
 */
export const mergeEntities = permitted(
  'merge entities',
  async (installation, act: MergingAct, named: { entity: string; other: string }): Promise<MergeStanding> => {
    const { organizationId } = act
    const store = installation.stores[act.environment]
    return stepTaken(installation, act, async () => {
      const [entity, other] = await Promise.all([
        findEntity(store, organizationId, named.entity),
        findEntity(store, organizationId, named.other),
      ])
      if (entity.id === other.id) throw invalid('same_entity', `${entity.id} is named twice.`)
      const [own, others] = await Promise.all([
        membersOf(store, organizationId, entity),
        membersOf(store, organizationId, other),
      ])
      if (own.some(({ id }) => id === other.id))
        throw conflict('entities_merged', `${entity.id} and ${other.id} are merged already.`)
      const members = [...own, ...others].sort((a, b) => (a.id < b.id ? -1 : 1))
      requireMergeable(members)
      // Whichever are named, the newer ones join the others, so that two operators propose the same.
      const subjectId = [own[0]!.id, others[0]!.id].sort()[1]!
      return { effect: 'merged', subjectId, touched: members, membersOf: () => members }
    })
  },
)

/** Tells an entity apart from those that it is merged with. One operator proposes it, a second one confirms. */
export const separateEntity = permitted(
  'merge entities',
  async (installation, act: MergingAct, name: string): Promise<MergeStanding> => {
    const { organizationId } = act
    const store = installation.stores[act.environment]
    return stepTaken(installation, act, async () => {
      const entity = await findEntity(store, organizationId, name)
      const touched = await membersOf(store, organizationId, entity)
      if (touched.length === 1) throw conflict('entity_not_merged', `${entity.id} is not merged with another.`)
      const rest = touched.filter(({ id }) => id !== entity.id)
      const isApart = ({ id }: EntityRow) => id === entity.id
      const separated = (one: EntityRow) => (isApart(one) ? [entity] : rest)
      return { effect: 'separated', subjectId: entity.id, touched, membersOf: separated }
    })
  },
)

/** Which entities an entity is merged with, and what waits for a second operator. */
export async function describeMerges(
  installation: Installation,
  { environment, organizationId }: Pick<EnvironmentAct, 'environment' | 'organizationId'>,
  entity: EntityRow,
): Promise<EntityMerges> {
  const store = installation.stores[environment]
  const [members, proposals] = await Promise.all([
    membersOf(store, organizationId, entity),
    store.entityMerges.openProposals(organizationId, entity.id),
  ])
  const shown = await Promise.all(
    proposals.map(async ({ effect, subject_id, members: after, reason, actor_id, taken_at }) => {
      const proposer = { organizationId, id: actor_id, permission: 'merge entities' } as const
      if (!(await standingOperator(installation, proposer))) return []
      const rest = members.map(({ id }) => id).filter((id) => id !== subject_id)
      const proposed = {
        effect: effect as MergeEffect,
        state: 'proposed' as const,
        entity_id: subject_id,
        members: effect === 'merged' ? after.split(' ') : rest,
        proposed_by: actor_id,
        reason,
        proposed_at: taken_at,
      }
      return [proposed]
    }),
  )
  return { members: members.map(({ id }) => id), proposals: shown.flat() }
}

/** What a step does to the entities whose reading it changes. */
interface Step {
  effect: MergeEffect
  subjectId: string
  /** Sorted by id. */
  touched: readonly EntityRow[]
  /** The entities that one of them is read with after the step. */
  membersOf(entity: EntityRow): readonly EntityRow[]
}

/** Proposes a step, or takes it if another operator has proposed the same. */
async function stepTaken(
  installation: Installation,
  act: MergingAct,
  readStep: () => Promise<Step>,
): Promise<MergeStanding> {
  const { operator } = act.by
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const step = await readStep()
    const proposer = await standingProposer(installation, act, step)
    if (proposer && isSamePerson(proposer, operator))
      throw forbidden('own_merge', `${operator.email} proposed this. Another operator has to confirm it.`)
    const change = changeOf(installation, act, { step, proposer })
    const { lost } = await installation.stores[act.environment].commit(change)
    if (lost) continue
    const after = step.touched.find(({ id }) => step.effect === 'merged' || id !== step.subjectId)!
    return {
      effect: step.effect,
      state: proposer ? 'done' : 'proposed',
      entity_id: step.subjectId,
      members: step.membersOf(after).map(({ id }) => id),
      proposed_by: (proposer ?? operator).id,
    }
  }
  throw conflict('entity_busy', 'Facts about these entities are being recorded too fast.')
}

/** The operator whose proposal of the same step waits for a second one: for each of the entities, no other step has overtaken it. */
async function standingProposer(
  installation: Installation,
  { organizationId, environment }: EnvironmentAct,
  { effect, subjectId, touched, membersOf: after }: Step,
): Promise<Operator | undefined> {
  const { entityMerges } = installation.stores[environment]
  const same = await Promise.all(
    touched.map(async (entity) => {
      const proposals = await entityMerges.openProposals(organizationId, entity.id)
      return proposals.find(
        (one) => one.effect === effect && one.subject_id === subjectId && one.members === idsOf(after(entity)),
      )
    }),
  )
  const [first] = same
  if (!first || same.includes(undefined)) return undefined
  return standingOperator(installation, { organizationId, id: first.actor_id, permission: 'merge entities' })
}

function requireMergeable(members: readonly EntityRow[]): void {
  const types = new Set(members.flatMap(({ type }) => type ?? []))
  if (types.size > 1)
    throw conflict('entity_types_differ', `These entities are of different types: ${[...types].join(', ')}.`)
  if (members.length > MEMBERS_MAX)
    throw conflict('too_many_merged', `${members.length} entities would be read as one; at most ${MEMBERS_MAX} can be.`)
}

function idsOf(entities: readonly EntityRow[]): string {
  return entities.map(({ id }) => id).join(' ')
}

/** Everything that a step writes. With the next version of each entity it loses to facts that are recorded meanwhile. */
function changeOf(
  installation: Installation,
  act: MergingAct,
  { step, proposer }: { step: Step; proposer: Operator | undefined },
): Change {
  const context = contextOf(installation, act)
  const { organizationId } = act
  const { effect, subjectId, touched, membersOf: after } = step
  const recorded = touched.map((entity) => recordStep(context, act, { step, entity, proposer }))
  const rows = { entity_merges: recorded.map(({ row }) => row) }
  const auditEntries = recorded.map(({ entry }) => entry)
  if (!proposer) return { organizationId, rows, auditEntries }
  const others = touched.find(({ id }) => effect === 'merged' || id !== subjectId)!
  const members = after(others).map(({ id }) => id)
  const event = eventRow(context, 'entity.merged', { entity_id: subjectId, state: effect, members })
  return {
    organizationId,
    rows: { ...rows, events: [event] },
    changedEntities: touched.map((entity) => ({ ...entity, version: entity.version + 1 })),
    consequences: touched.flatMap(({ id }) =>
      ['spread', 'exposure'].map((kind) => ({ kind, entity_id: id, mark: `${effect} ${event.id}` })),
    ),
    auditEntries,
  }
}

/** The row of a step for one of its entities, with the entry on the trail of that entity. */
function recordStep(
  context: RecordContext,
  act: MergingAct,
  { step, entity, proposer }: { step: Step; entity: EntityRow; proposer: Operator | undefined },
): { row: NewRow<'entity_merges'>; entry: AuditEntryRow } {
  const { organizationId, reason } = act
  const actor = actorOf(act)
  const members = step.membersOf(entity)
  const row = {
    id: context.newId('mrg'),
    entity_id: entity.id,
    effect: step.effect,
    step: proposer ? 'approved' : 'proposed',
    subject_id: step.subjectId,
    members: idsOf(members),
    version: proposer ? entity.version + 1 : entity.version,
    reason,
    actor_type: actor.type,
    actor_id: actor.id,
    taken_at: context.now,
  }
  const data = {
    entity_id: entity.id,
    merge_id: row.id,
    subject_id: step.subjectId,
    members: members.map(({ id }) => id),
    record_sha256: recordSha256<'entity_merges'>(organizationId, row),
    ...viaOf(act),
    ...(proposer && { proposed_by: proposer.id }),
  }
  const entry = { type: entryTypeOf(row), trailId: entity.id, subject: { type: 'entity_merge', id: row.id }, data }
  return { row, entry: auditEntryRow(context, entry as Parameters<typeof auditEntryRow<'entity.merged'>>[1]) }
}
