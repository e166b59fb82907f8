import type { Reason } from './compiled-policy.ts'

/** A reason of the document, with the node of the trace that it comes from. */
export function reasonAt(
  node: string,
  { code, label }: { code: string; label: string },
  impact: Reason['impact'],
): Reason {
  return { code, impact, label, node }
}
