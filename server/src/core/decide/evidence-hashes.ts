import { sha256 } from '../canonical-json.ts'

/** The hashes that a decision's audit entry records, so that any later change of the decision or its evidence shows. */
export function evidenceHashes({
  decision,
  facts,
  trace,
  graph,
}: Record<'decision' | 'facts' | 'trace' | 'graph', string>) {
  return {
    decision_sha256: sha256(decision),
    facts_sha256: sha256(facts),
    trace_sha256: sha256(trace),
    graph_sha256: sha256(graph),
  }
}
