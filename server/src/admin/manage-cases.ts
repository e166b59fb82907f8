import type { Installation } from '../installation/installation.ts'
import { findOperatorById } from '../store/control/operators.ts'
import type { RowOf } from '../store/schema/tables.ts'
import type { CaseChange } from '../store/write-path/change.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'
import { parseBodies } from '../underwriting/describe-evidence.ts'
import { nameReviewer, type RecordedReview } from '../underwriting/review-decision.ts'
import { contextOf, type EnvironmentAct, type OperatorActor, permitted } from './act.ts'
import { holds } from './permissions.ts'
import { conflict, entityErased, notFound, type Problem } from './problem.ts'

/** A case as it is stored. */
type Case = RowOf<'cases'>

/** How often an act is tried again because other operators or requests changed the case at the same moment. */
export const ATTEMPTS_MAX = 10

/** Gives an open case to an operator who may review, or back to the queue. `seen` is the assignee that the caller saw. */
export const assignCase = permitted(
  'review decisions',
  async (
    installation,
    act: EnvironmentAct<OperatorActor>,
    { id, to, seen }: { id: string; to: string | null; seen: string | null },
  ): Promise<Case> => {
    if (to !== null) await requireReviewer(installation, act, to)
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const found = await openCase(installation, act, id)
      if (found.assignee_id === to) return found
      if (found.assignee_id !== seen) throw await caseTaken(installation, act, found)
      if (await commitAssignment(installation, act, { found, to }))
        return (await installation.stores[act.environment].cases.row(act.organizationId, id))!
    }
    throw caseBusy()
  },
)

/** Gives the oldest free case to the operator; `id` is null if all open cases are taken, or there is none. */
export const takeNextCase = permitted(
  'review decisions',
  async (installation, act: EnvironmentAct<OperatorActor>): Promise<{ id: string | null }> => {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const found = await installation.stores[act.environment].cases.oldestFree(act.organizationId, act.by.operator.id)
      if (!found) return { id: null }
      // Lost to another reviewer: the next attempt finds the case after it.
      if (await commitAssignment(installation, act, { found, to: act.by.operator.id })) return { id: found.id }
    }
    throw caseBusy()
  },
)

/** Adds a note to a case, open or decided. */
export const addCaseNote = permitted(
  'review decisions',
  async (
    installation,
    act: EnvironmentAct<OperatorActor>,
    { id, text }: { id: string; text: string },
  ): Promise<RowOf<'case_notes'>> => {
    const { organizationId } = act
    const { entity_id } = await findCase(installation, act, id)
    const entity = await installation.stores[act.environment].entities.find({ organizationId, id: entity_id })
    if (!entity) throw entityErased(entity_id)
    const context = contextOf(installation, act)
    const note = {
      id: installation.newId('nte'),
      case_id: id,
      entity_id,
      text: text.trim(),
      author_id: act.by.operator.id,
      created_at: context.now,
    }
    const entry = auditEntryRow(context, {
      type: 'case.noted',
      trailId: entity_id,
      subject: { type: 'case_note', id: note.id },
      data: { entity_id, case_id: id, record_sha256: recordSha256<'case_notes'>(organizationId, note) },
    })
    const store = installation.stores[act.environment]
    await commitOrThrow(store, { organizationId, rows: { case_notes: [note] }, auditEntries: [entry] })
    return { org_id: organizationId, ...note }
  },
)

/** A case is given only to an operator who could decide it. */
async function requireReviewer(
  { storage }: Installation,
  { organizationId }: EnvironmentAct,
  operatorId: string,
): Promise<void> {
  const operator = await findOperatorById(storage.control, organizationId, operatorId)
  if (!operator || operator.disabled_at !== null || !holds(operator, 'review decisions'))
    throw conflict('assignee_cannot_review', 'This operator cannot review decisions.')
}

/** The case with this id; throws if there is none. */
async function findCase({ stores }: Installation, act: EnvironmentAct, id: string): Promise<Case> {
  const found = await stores[act.environment].cases.row(act.organizationId, id)
  if (!found) throw caseNotFound()
  return found
}

/** The case with this id; throws if there is none, or if it was decided, and by whom and when. */
export async function openCase(installation: Installation, act: EnvironmentAct, id: string): Promise<Case> {
  const { organizationId } = act
  const found = await findCase(installation, act, id)
  if (found.review_id === null) return found
  const store = installation.stores[act.environment]
  const body = await store.cases.reviewBody(organizationId, found.review_id)
  const [review] = parseBodies([body ?? '{}'])
  const { reviewer, created_at } = (review ?? {}) as Partial<RecordedReview>
  const keys = await store.reviews.keys(organizationId, [found.review_id])
  const name = nameReviewer(reviewer, keys.get(found.review_id))
  throw conflict('case_decided', `${name} has decided this case already, ${sayWhen(created_at)}.`)
}

/** There is no such case. */
export function caseNotFound(): Problem {
  return notFound('case_not_found', 'There is no such case in this environment.')
}

/** Says who has a case, or that it was given back. */
export async function caseTaken(
  { storage }: Installation,
  { organizationId }: EnvironmentAct,
  { assignee_id, assigned_at }: Case,
): Promise<Problem> {
  if (assignee_id === null) return conflict('case_taken', 'This case was given back to the queue meanwhile.')
  const holder = await findOperatorById(storage.control, organizationId, assignee_id)
  return conflict('case_taken', `${holder?.name ?? assignee_id} took this case, ${sayWhen(assigned_at)}.`)
}

/** All attempts at an act were lost to other operators or requests. */
export function caseBusy(): Problem {
  return conflict('case_busy', 'This case is being changed too fast.')
}

function sayWhen(time: string | null | undefined): string {
  return time ? `on ${time.slice(0, 10)} at ${time.slice(11, 16)} UTC` : 'a moment ago'
}

/** A change of a case that leaves its signature as it is. */
type SeenCase = Omit<CaseChange, 'assignee_id' | 'assigned_at'>

/** What has to be unchanged in a case for an act on it to be written. */
export function asSeen({ id, assignee_id, waiting, signature_id, signer_id }: Case): SeenCase {
  return { id, was: assignee_id, waiting, signature_id, signer_id, was_signature: signature_id }
}

/** Writes who has a case from now on; false if it was changed since it was read. */
async function commitAssignment(
  installation: Installation,
  act: EnvironmentAct,
  { found, to }: { found: Case; to: string | null },
): Promise<boolean> {
  const { organizationId } = act
  const context = contextOf(installation, act)
  const { id, entity_id, assignee_id } = found
  const entry = auditEntryRow(context, {
    type: 'case.assigned',
    trailId: entity_id,
    subject: { type: 'case', id },
    data: { entity_id, case_id: id, assignee_id: to, previous_assignee_id: assignee_id },
  })
  const { lost } = await installation.stores[act.environment].commit({
    organizationId,
    changedCases: [{ ...asSeen(found), assignee_id: to, assigned_at: to === null ? null : context.now }],
    auditEntries: [entry],
  })
  return !lost
}
