import type { Trust } from '../../core/graph/describe-trust.ts'
import { objectIn } from '../../core/stored-json.ts'

/** The trust of a stored text; null if it was altered so that it cannot be read. */
export function readTrust(text: string): Trust | null {
  const { score, negative_exposure, positive_support, evidence_count, as_of } = objectIn(text) ?? {}
  const isReadable =
    typeof score === 'number' &&
    typeof negative_exposure === 'number' &&
    typeof positive_support === 'number' &&
    typeof evidence_count === 'number' &&
    typeof as_of === 'string'
  return isReadable ? { score, negative_exposure, positive_support, evidence_count, as_of } : null
}
