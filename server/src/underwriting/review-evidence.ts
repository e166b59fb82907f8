import type { DecisionTrace } from '../core/decide/evaluation.ts'
import { replayableFacts } from '../core/decide/replayable-facts.ts'
import type { Facts } from '../core/facts/facts.ts'
import { isObject, objectIn } from '../core/stored-json.ts'

/** The evidence of a decision that waits for a review; nulls where it was deleted, or altered so that it cannot be read. */
export interface ReviewEvidence {
  state: 'stored' | 'deleted' | 'altered'
  facts: Facts | null
  trace: DecisionTrace | null
}

/** Reads the stored evidence of a decision, as far as a review needs it; stored rows may have been altered in any way. */
export function readReviewEvidence(stored: { facts: string | null; trace: string | null }): ReviewEvidence {
  const facts = factsOf(stored.facts)
  const trace = traceOf(stored.trace)
  const isAltered = (stored.facts !== null && !facts) || (stored.trace !== null && !trace)
  const isDeleted = stored.facts === null || stored.trace === null
  return { state: isAltered ? 'altered' : isDeleted ? 'deleted' : 'stored', facts, trace }
}

function factsOf(text: string | null): Facts | null {
  const read = replayableFacts(objectIn(text))
  return 'facts' in read ? read.facts : null
}

function traceOf(text: string | null): DecisionTrace | null {
  const trace = objectIn(text)
  return isTrace(trace) ? trace : null
}

/** Whether a trace has the members that a review reads. */
function isTrace(stored: unknown): stored is DecisionTrace {
  if (!isObject(stored)) return false
  const { score, confidence, completeness, limit, settled_by } = stored
  return (
    isObject(score) &&
    [score.total, score.cutoff, score.bad_ppm ?? 0].every(Number.isFinite) &&
    (confidence === null || isShare(confidence)) &&
    isShare(completeness) &&
    (limit === null || isLimit(limit)) &&
    typeof settled_by === 'string'
  )
}

function isShare(stored: unknown): boolean {
  return isObject(stored) && Number.isFinite(stored.ppm)
}

function isLimit(stored: unknown): boolean {
  if (!isObject(stored)) return false
  const { currency, terms, missing, step } = stored
  return (
    typeof currency === 'string' &&
    Array.isArray(terms) &&
    terms.every((term) => isObject(term) && Number.isFinite(term.amount)) &&
    Array.isArray(missing) &&
    missing.every((feature) => typeof feature === 'string') &&
    (step === null || Number.isFinite(step))
  )
}
