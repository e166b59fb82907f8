import type { Environment } from '../config.ts'
import type { Installation } from '../installation/installation.ts'
import { findOperatorById, type Operator } from '../store/control/operators.ts'
import type { RowOf } from '../store/schema/tables.ts'
import type { CaseChange } from '../store/write-path/change.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'
import { nameReviewer, type RecordedReview } from '../underwriting/review-decision.ts'
import { holds, roleRefusal } from './operator-act.ts'
import { recordContext } from './record-context.ts'

/** An operator's act on the review queue of one environment. */
export interface CaseAct {
  environment: Environment
  organizationId: string
  operator: Operator
}

/** Why nothing was changed, in words for the operator. */
export interface CaseProblem {
  problem: string
  /** What the page has to react to; absent for a verdict that contradicts itself. */
  code?:
    | 'case_not_found'
    | 'case_taken'
    | 'case_decided'
    | 'case_changed'
    | 'limit_outside_bounds'
    | 'role_lacks_permission'
}

/** A case as it is stored. */
type Case = RowOf<'cases'>

/** How often an act is tried again because other operators or requests changed the case at the same moment. */
export const ATTEMPTS_MAX = 10

/** The answer once all attempts were lost. */
export const TOO_BUSY: CaseProblem = { problem: 'this case is being changed too fast: try again in a moment' }
const NOT_FOUND: CaseProblem = { problem: 'there is no such case in this environment', code: 'case_not_found' }

/** Gives an open case to an operator who may review, or back to the queue. `seen` is the assignee that the caller saw. */
export async function assignCase(
  installation: Installation,
  act: CaseAct,
  { id, to, seen }: { id: string; to: string | null; seen: string | null },
): Promise<Case | CaseProblem> {
  const refused = mayNotReview(act) ?? (await targetProblem(installation, act, to))
  if (refused) return refused
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const found = await openCase(installation, act, id)
    if ('problem' in found) return found
    if (found.assignee_id === to) return found
    if (found.assignee_id !== seen) return takenProblem(installation, act, found)
    if (await commitAssignment(installation, act, { found, to }))
      return (await installation.stores[act.environment].cases.row(act.organizationId, id))!
  }
  return TOO_BUSY
}

/** Gives the oldest free case to the operator; `id` is null if all open cases are taken, or there is none. */
export async function takeNextCase(
  installation: Installation,
  act: CaseAct,
): Promise<{ id: string | null } | CaseProblem> {
  const refused = mayNotReview(act)
  if (refused) return refused
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const found = await installation.stores[act.environment].cases.oldestFree(act.organizationId)
    if (!found) return { id: null }
    // Lost to another reviewer: the next attempt finds the case after it.
    if (await commitAssignment(installation, act, { found, to: act.operator.id })) return { id: found.id }
  }
  return TOO_BUSY
}

/** Adds a note to a case, open or decided. */
export async function addCaseNote(
  installation: Installation,
  act: CaseAct,
  { id, text }: { id: string; text: string },
): Promise<RowOf<'case_notes'> | CaseProblem> {
  const refused = mayNotReview(act)
  if (refused) return refused
  const { organizationId, operator } = act
  const store = installation.stores[act.environment]
  const found = await store.cases.row(organizationId, id)
  if (!found) return NOT_FOUND
  const context = contextOf(installation, act)
  const { entity_id } = found
  const note = {
    id: installation.newId('nte'),
    case_id: id,
    entity_id,
    text: text.trim(),
    author_id: operator.id,
    created_at: context.now,
  }
  const entry = auditEntryRow(context, {
    type: 'case.noted',
    trailId: entity_id,
    subject: { type: 'case_note', id: note.id },
    data: { entity_id, case_id: id, record_sha256: recordSha256<'case_notes'>(organizationId, note) },
  })
  await commitOrThrow(store, { organizationId, rows: { case_notes: [note] }, auditEntries: [entry] })
  return { org_id: organizationId, ...note }
}

/** Why an operator may not act on the review queue; undefined if they may. */
export function mayNotReview({ operator, organizationId }: CaseAct): CaseProblem | undefined {
  const refused = roleRefusal(operator, organizationId, 'review decisions')
  return refused && { ...refused, code: 'role_lacks_permission' }
}

/** A case is given only to an operator who could decide it. */
async function targetProblem(
  { storage }: Installation,
  { organizationId }: CaseAct,
  to: string | null,
): Promise<CaseProblem | undefined> {
  if (to === null) return undefined
  const target = await findOperatorById(storage.control, organizationId, to)
  if (!target || target.disabled_at !== null || !holds(target, 'review decisions'))
    return { problem: 'this operator cannot review decisions: choose an owner, an admin or a reviewer' }
  return undefined
}

/** The case with this id; a problem if there is none, or if it was decided, by whom and when. */
export async function openCase(installation: Installation, act: CaseAct, id: string): Promise<Case | CaseProblem> {
  const { organizationId } = act
  const store = installation.stores[act.environment]
  const found = await store.cases.row(organizationId, id)
  if (!found) return NOT_FOUND
  if (found.review_id === null) return found
  const body = await store.cases.reviewBody(organizationId, found.review_id)
  const { reviewer, created_at } = JSON.parse(body ?? '{}') as Partial<RecordedReview>
  const keys = await store.reviews.keys(organizationId, [found.review_id])
  const name = nameReviewer(reviewer, keys.get(found.review_id))
  return { problem: `${name} has decided this case already, ${sayWhen(created_at)}`, code: 'case_decided' }
}

/** Says who has a case, or that it was given back. */
export async function takenProblem(
  { storage }: Installation,
  { organizationId }: CaseAct,
  { assignee_id, assigned_at }: Case,
): Promise<CaseProblem> {
  if (assignee_id === null) return { problem: 'this case was given back to the queue meanwhile', code: 'case_taken' }
  const holder = await findOperatorById(storage.control, organizationId, assignee_id)
  const name = holder?.name ?? assignee_id
  return { problem: `${name} took this case, ${sayWhen(assigned_at)}`, code: 'case_taken' }
}

function sayWhen(time: string | null | undefined): string {
  return time ? `on ${time.slice(0, 10)} at ${time.slice(11, 16)} UTC` : 'a moment ago'
}

/** What has to be unchanged in a case for an act on it to be written. */
export function asSeen({ id, assignee_id, waiting }: Case): Pick<CaseChange, 'id' | 'was' | 'waiting'> {
  return { id, was: assignee_id, waiting }
}

/** Writes who has a case from now on; false if it was changed since it was read. */
async function commitAssignment(
  installation: Installation,
  act: CaseAct,
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

/** The context in which the act of an operator is recorded. */
export function contextOf(installation: Installation, { organizationId, operator }: CaseAct) {
  return recordContext(installation, { organizationId, actor: { type: 'operator', id: operator.id } })
}
