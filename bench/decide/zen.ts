/**
 * The sandbox policy in @gorules/zen-engine.
 *
 * Set up in its favour: the decision is created once from precompiled content, as its documentation recommends for speed;
 * the features of the request are already computed; it evaluates only rules and points; and unless the series says "one
 * at a time", sixteen cases are in flight at once, so that its threads can use every core, while `decide` uses one.
 */
import type { ZenEvaluateOptions } from '@gorules/zen-engine'
import type { PeerPackage } from '../peers.ts'
import type { Answer } from './answer.ts'
import type { DecisionCase } from './decision-case.ts'
import type { ZenGraph } from './zen-graph.ts'

/** The output of a graph: the hits as a list, or every rule with whether it holds. */
interface ZenResult {
  total: number
  hits?: string[]
  rules?: Record<string, boolean>
}

/** A graph ready to decide, with or without its trace. */
export function zenDecision(
  { ZenDecisionContent, ZenEngine }: PeerPackage<'@gorules/zen-engine'>,
  graph: ZenGraph,
  trace: NonNullable<ZenEvaluateOptions['trace']>,
) {
  const content = new ZenDecisionContent(Buffer.from(JSON.stringify(graph)))
  const decision = new ZenEngine().createDecision(content)
  const evaluate = ({ nested }: DecisionCase) => decision.evaluate(nested, { trace })
  const answer = async (one: DecisionCase): Promise<Answer> => {
    const { result } = (await evaluate(one)) as { result: ZenResult }
    return { hits: result.hits ?? heldRules(result.rules ?? {}), total: result.total }
  }
  return { evaluate, answer }
}

function heldRules(rules: Record<string, boolean>): string[] {
  return Object.keys(rules).filter((id) => rules[id] === true)
}
