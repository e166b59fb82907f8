import { type DecisionStanding, type ReviewedVerdict, standingOf } from '../core/decision-standing.ts'
import type { RecordedOutcome } from '../core/facts/recorded-outcome.ts'
import { type Mismatch, mismatchesOf } from '../core/outcome-mismatch.ts'
import type { OutcomeType } from '../core/vocabularies.ts'
import type { NewId } from '../ids/new-id.ts'
import type { NewRow, RowOf } from '../store/schema/tables.ts'
import type { DomainEvent } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'

/** What happened after a decision, as it was reported. */
export interface OutcomeReport {
  type: OutcomeType
  occurred_at: string
  days_past_due?: number
  amount?: number
  currency?: string
  note?: string
  /** Whether it is recorded although it does not fit its decision. */
  override?: boolean
}

/** A decision with what became of it. */
export interface ReviewedDecision {
  decision: RowOf<'decisions'>
  /** The newest one, if it has any. */
  review: ReviewedVerdict | undefined
  /** Whether a later request with the same reference replaced what it offered. */
  isReplaced: boolean
}

/** One thing of a report that cannot belong to its decision, and what to do. */
export interface OutcomeViolation {
  param: string
  message: string
}

/** An outcome with the row and the domain event that record it. */
export interface NewOutcome {
  outcome: OutcomeReport & RecordedOutcome & { object: 'outcome'; entity_id: string; created_at: string }
  row: NewRow<'outcomes'>
  domainEvent: DomainEvent
}

/** The one way to report an outcome: refuses what cannot belong to the decision, and describes what has to be recorded. */
export function reportOutcome(
  { newId, now }: { newId: NewId; now: string },
  { decision, review, isReplaced }: ReviewedDecision,
  report: OutcomeReport,
): NewOutcome | { mismatches: OutcomeViolation[] } {
  const standing = { ...standingOf(decision, review), currency: decision.currency, isReplaced }
  const { override, ...reported } = report
  const mismatches = mismatchesOf(report, standing)
  if (mismatches.length > 0 && override !== true)
    return { mismatches: mismatches.map((mismatch) => describeMismatch(mismatch, report, standing)) }
  const outcome: NewOutcome['outcome'] = {
    id: newId('out'),
    object: 'outcome',
    decision_id: decision.id,
    entity_id: decision.entity_id,
    ...(report.type === 'funded' && report.amount === undefined && approvedAmount(decision, standing)),
    ...reported,
    ...(mismatches.length > 0 && { override: true }),
    created_at: now,
  }
  return { outcome, ...recordOf(decision.org_id, outcome, mismatches) }
}

/** The amount of a funding that does not give one: the requested amount, up to the limit that was approved. */
function approvedAmount(
  { requested_amount, currency }: RowOf<'decisions'>,
  { isApproved, amount }: DecisionStanding,
): Pick<OutcomeReport, 'amount' | 'currency'> {
  if (requested_amount === null || currency === null || amount === null || !isApproved) return {}
  return { amount: Math.min(requested_amount, amount), currency }
}

const OVERRIDE = 'If it is right all the same, send "override": true and say why in note.'

function describeMismatch(
  mismatch: Mismatch,
  report: OutcomeReport,
  { amount, currency }: DecisionStanding & { currency: string | null },
): OutcomeViolation {
  switch (mismatch) {
    case 'not_approved':
      return {
        param: '/type',
        message: `This decision stands as a decline, so nothing can have been paid out on it. Check its id; if a person has approved it since, submit that review first. ${OVERRIDE}`,
      }
    case 'replaced':
      return {
        param: '/type',
        message: `A later request with the same reference replaced this offer, so nothing should have been paid out on it. Report it on the later decision. ${OVERRIDE}`,
      }
    case 'other_currency':
      return {
        param: '/currency',
        message: `currency is ${report.currency}, but the decision was made in ${currency}. Report the amount in ${currency}. ${OVERRIDE}`,
      }
    case 'amount_too_high':
      return {
        param: '/amount',
        message: `amount is more than ten times the ${amount} ${currency} of the decision. Amounts are in major units: check the decimal point and the id of the decision. ${OVERRIDE}`,
      }
  }
}

function recordOf(
  organizationId: string,
  outcome: NewOutcome['outcome'],
  overridden: Mismatch[],
): Pick<NewOutcome, 'row' | 'domainEvent'> {
  const { id, decision_id, entity_id, type, occurred_at, created_at } = outcome
  const row = { id, decision_id, entity_id, type, occurred_at, body: JSON.stringify(outcome), created_at }
  const record_sha256 = recordSha256<'outcomes'>(organizationId, row)
  const about = { entity_id, decision_id, outcome_id: id, outcome_type: type, record_sha256 }
  const domainEvent = {
    type: 'decision.outcome_recorded' as const,
    subject: { type: 'outcome', id },
    trailId: entity_id,
    data: overridden.length > 0 ? { ...about, overridden } : about,
  }
  return { row, domainEvent }
}
