import {
  type Approval,
  type Approver,
  type BeyondLimit,
  beyondLimits,
  type Signature,
} from '../core/approval-limits.ts'
import type { Installation } from '../installation/installation.ts'
import type { Operator } from '../store/control/operators.ts'
import type { WaitingDecision } from '../store/environment/cases.ts'
import type { RowOf } from '../store/schema/tables.ts'
import { type AuditEntryRow, auditEntryRow, domainEventRows } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'
import { offersAfterReviews } from '../underwriting/entity-offers.ts'
import type { RecordedReview } from '../underwriting/review-decision.ts'
import { readStandingCredit, type StandingCredit } from '../underwriting/standing-credit.ts'
import { contextOf, type EnvironmentAct, type OperatorActor, permitted, type Reasoned } from './act.ts'
import { type Pair, pairsOf, type RequestVerdict, reviewAll } from './case-verdicts.ts'
import { ATTEMPTS_MAX, asSeen, caseBusy, caseTaken, openCase } from './manage-cases.ts'
import { conflict, entityErased, tooManyOffers } from './problem.ts'

/** What a reviewer decides about a case, for the reason of the act: a verdict for each request. */
export interface CaseVerdict {
  id: string
  /** One for each request of the case that waits, as the reviewer saw them. */
  verdicts: readonly RequestVerdict[]
  /** Whether the reviewer was told that the limits together are above the bounds, and means them. */
  isTotalConfirmed?: boolean | undefined
}

/** The most requests that one act decides. A case with more stays open, with the oldest of them. */
export const REQUESTS_PER_ACT_MAX = 20

/** The most conditions of one request, and the longest of them. */
export const CONDITIONS_MAX = 20
export const CONDITION_CHARACTERS_MAX = 500

/** The longest reason of a review. */
export const REASON_CHARACTERS_MAX = 5_000

/** What deciding a case has come to: its reviews, or a first signature that a second person has to follow. */
export type DecidedCase = { reviews: RecordedReview[] } | { signatureId: string }

/**
 * Reviews every request of a case that waits, as `POST /v1/decisions/{id}/reviews` does, which closes the case. All reviews are
 * one change: either each request gets its verdict, or none does. A case that another operator has, or whose requests are not
 * those that the reviewer saw, is left as it is. What is above the reviewer's approval limit is signed and not reviewed: a
 * second person signs the same (`sign-case.ts`).
 */
export const decideCase = permitted(
  'review decisions',
  async (installation, act: Reasoned<EnvironmentAct<OperatorActor>>, decided: CaseVerdict): Promise<DecidedCase> => {
    const { operator } = act.by
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const found = await openCase(installation, act, decided.id)
      if (found.assignee_id !== null && found.assignee_id !== operator.id)
        throw await caseTaken(installation, act, found)
      if (found.signature_id !== null)
        throw conflict('case_signed', 'This case is signed already, and waits for a second person.')
      const read = await readForVerdict(installation, act, found)
      const pairs = pairsOf(read.waiting, decided.verdicts)
      const done = (await isBeyond(installation, act, pairs))
        ? await signFirst(installation, act, { ...read, found, pairs, decided })
        : await recordReviews(installation, act, { ...read, found, pairs, isTotalConfirmed: decided.isTotalConfirmed })
      if (done) return done
    }
    throw caseBusy()
  },
  { reasonCharactersMax: REASON_CHARACTERS_MAX },
)

/** What a verdict about a case needs. */
interface ReadCase {
  credit: StandingCredit
  waiting: WaitingDecision[]
}

/** Reads the requests of a case that wait, and what is lent to the same person. */
export async function readForVerdict(
  installation: Installation,
  { environment, organizationId }: EnvironmentAct,
  { id, entity_id: entityId }: RowOf<'cases'>,
): Promise<ReadCase> {
  const store = installation.stores[environment]
  const now = new Date(installation.nowMs()).toISOString()
  const credit = await readStandingCredit(store, { organizationId, entityId, now })
  if (!credit) throw entityErased(entityId)
  return { credit, waiting: await store.cases.waitingDecisions(organizationId, id, REQUESTS_PER_ACT_MAX) }
}

/** What of these verdicts is above the limits of the operator who gives a signature. */
export async function beyondLimitsOf(
  installation: Installation,
  { environment, organizationId, by }: EnvironmentAct<OperatorActor>,
  { pairs, as }: { pairs: readonly Pair[]; as: Signature },
): Promise<BeyondLimit[]> {
  const limits = await installation.stores[environment].approvals.limits(organizationId)
  return beyondLimits(limits, approverOf(by.operator), approvalsOf(pairs), as)
}

async function isBeyond(installation: Installation, act: EnvironmentAct<OperatorActor>, pairs: readonly Pair[]) {
  return (await beyondLimitsOf(installation, act, { pairs, as: 'alone' })).length > 0
}

/** An operator as approval limits know them. */
export function approverOf({ id, role }: Pick<Operator, 'id' | 'role'>): Approver {
  return { type: 'operator', id, roles: [role] }
}

/** The amounts that verdicts approve; access has none. */
export function approvalsOf(pairs: readonly Pair[]): Approval[] {
  return pairs.flatMap(({ decision: { product, currency }, said }) =>
    said.verdict === 'decline' || said.recommendedLimit === undefined || currency === null
      ? []
      : [{ product, currency, amount: said.recommendedLimit }],
  )
}

/** What is recorded of a case whose requests get their verdicts. */
interface Reviewed extends ReadCase {
  found: RowOf<'cases'>
  pairs: readonly Pair[]
  isTotalConfirmed?: boolean | undefined
  /** Entries of the same act. */
  entries?: readonly AuditEntryRow[]
}

/** Records the reviews of a case; undefined if it was changed since it was read. */
export async function recordReviews(
  installation: Installation,
  act: Reasoned<EnvironmentAct<OperatorActor>>,
  { credit, found, pairs, isTotalConfirmed, entries = [] }: Reviewed,
): Promise<{ reviews: RecordedReview[] } | undefined> {
  const { organizationId } = act
  const store = installation.stores[act.environment]
  const { now, reviews } = await reviewAll(installation, act, { pairs, credit, isTotalConfirmed })
  const offered = pairs.map(({ decision }, index) => ({ decision, review: reviews[index]!.review }))
  const offers = await offersAfterReviews({ store, organizationId, now }, credit.members, offered)
  if (offers === 'too_many') throw tooManyOffers()
  const { changedOffers, replacedOffers } = offers
  const context = { ...contextOf(installation, act), now }
  const domainEvents = reviews.map(({ domainEvent }) => domainEvent)
  const { lost } = await store.commit({
    organizationId,
    changedOffers,
    changedCases: [{ ...asSeen(found), assignee_id: act.by.operator.id, assigned_at: found.assigned_at ?? now }],
    rows: { reviews: reviews.map(({ row }) => row) },
    auditEntries: [
      ...domainEventRows(context, domainEvents),
      ...replacedOffers.map((entry) => auditEntryRow(context, entry)),
      ...entries,
    ],
  })
  return lost ? undefined : { reviews: reviews.map(({ review }) => review) }
}

/** Records the first of two signatures, and gives the case back to the queue; undefined if it was changed since it was read. */
async function signFirst(
  installation: Installation,
  act: Reasoned<EnvironmentAct<OperatorActor>>,
  { credit, found, pairs, decided }: Reviewed & { decided: CaseVerdict },
): Promise<{ signatureId: string } | undefined> {
  const { organizationId, reason } = act
  const { verdicts, isTotalConfirmed } = decided
  // Nothing is signed that could not be recorded.
  const { now } = await reviewAll(installation, act, { pairs, credit, isTotalConfirmed })
  const signature = {
    id: installation.newId('sig'),
    case_id: found.id,
    entity_id: found.entity_id,
    body: JSON.stringify({ verdicts, reason, isTotalConfirmed } satisfies SignedVerdict),
    signer_id: act.by.operator.id,
    created_at: now,
  }
  const { id, case_id, entity_id } = signature
  const record_sha256 = recordSha256<'case_signatures'>(organizationId, signature)
  const { lost } = await installation.stores[act.environment].commit({
    organizationId,
    changedCases: [
      { ...asSeen(found), assignee_id: null, assigned_at: null, signature_id: id, signer_id: signature.signer_id },
    ],
    rows: { case_signatures: [signature] },
    auditEntries: domainEventRows({ ...contextOf(installation, act), now }, [
      {
        type: 'case.signature_due',
        trailId: entity_id,
        subject: { type: 'case_signature', id },
        data: { entity_id, case_id, signature_id: id, record_sha256 },
      },
    ]),
  })
  return lost ? undefined : { signatureId: id }
}

/** What a first signature stores: the verdicts, as they will be recorded once a second person has signed. */
export type SignedVerdict = Omit<CaseVerdict, 'id'> & { reason: string }

/** The verdicts of a stored signature. */
export function signedVerdictOf({ body }: Pick<RowOf<'case_signatures'>, 'body'>): SignedVerdict {
  return JSON.parse(body) as SignedVerdict
}
