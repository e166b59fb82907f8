import { VERDICTS, type Verdict } from '../../core/vocabularies.ts'
import type { EnvironmentStore } from '../../store/environment-store.ts'
import type { CaseWithDecision } from '../../store/queries/cases.ts'
import { type RequestedAmount, requestedOf } from '../figures/newest-decisions.ts'
import { type CaseEnd, endOf, pathsOf, reasonsOf, type SeenPath, type StatedReason, traceOf } from './describe-case.ts'
import { describeTrigger, explainTrigger } from './describe-trigger.ts'

/** A decision about the entity of a case that was made while the case was open. */
export interface CaseDecision {
  id: string
  verdict: Verdict
  product: string
  requested: RequestedAmount | null
  decided_at: string
  is_waiting: boolean
}

/** What the drawer of a case shows besides its row. */
export interface CaseDetail {
  /** The sentence that says why a person has to look at it. */
  why: string
  figures: {
    repayment_probability: number | null
    confidence: number | null
    /** The largest amount that the terms of the limit allow. */
    could_lend: RequestedAmount | null
  }
  reasons: StatedReason[]
  /** The paths to bad outcomes that the decision saw. */
  paths: (SeenPath & { name: string })[]
  /** Newest first; the first one that waits is what the case is about. */
  decisions: CaseDecision[]
  notes: { id: string; text: string; by: string; at: string }[]
  /** Earlier reviews of decisions about this entity, newest first. */
  prior: CaseEnd[]
}

const PRIOR_LISTED = 10
const MILLION = 1_000_000

/** Reads everything that the drawer of a case shows besides its row. */
export async function describeDetail(
  store: EnvironmentStore,
  row: CaseWithDecision,
  nameOf: (operatorId: string) => string,
): Promise<CaseDetail> {
  const { org_id: organizationId, entity_id: entityId } = row
  const trace = traceOf(row)
  const reasons = reasonsOf(row.decision_body)
  const end = row.review_body === null ? null : endOf(row.review_body)
  const paths = pathsOf(row.graph)
  const [decisions, notes, prior, names] = await Promise.all([
    store.decisionsOfCase(row, end?.at ?? null),
    store.notesOfCase(organizationId, row.id),
    store.reviewsOfEntity(organizationId, entityId, PRIOR_LISTED),
    store.entityNames(
      organizationId,
      paths.map(({ entity_id }) => entity_id),
    ),
  ])
  const limit = trace?.limit
  return {
    why: explainTrigger(trace, describeTrigger(trace, reasons, row), row),
    figures: {
      repayment_probability: typeof trace?.score.bad_ppm === 'number' ? 1 - trace.score.bad_ppm / MILLION : null,
      confidence: trace ? trace.confidence.ppm / MILLION : null,
      could_lend: limit && limit.amount !== null ? { amount: limit.amount, currency: limit.currency } : null,
    },
    reasons,
    paths: paths.map((path) => {
      const known = names.get(path.entity_id)
      return { ...path, name: known?.name ?? known?.external_id ?? path.entity_id }
    }),
    decisions: decisions.map((decision) => ({
      id: decision.id,
      verdict: VERDICTS.find((verdict) => verdict === decision.verdict)!,
      product: decision.product,
      requested: requestedOf(decision.facts),
      decided_at: decision.created_at,
      is_waiting: decision.is_waiting,
    })),
    notes: notes.map(({ id, text, author_id, created_at }) => ({ id, text, by: nameOf(author_id), at: created_at })),
    prior: prior.map(endOf).filter(({ review_id }) => review_id !== end?.review_id),
  }
}
