/**
 * The sandbox policy in @gorules/zen-engine.
 *
 * To its advantage: the decision is created once from precompiled content, as its documentation recommends for speed;
 * the measured features come worked out; nothing but rules and points is asked of it; and unless said otherwise
 * sixteen cases are under way at once, so that its own threads can use every core, where `decide` has one.
 */
import type { ZenEvaluateOptions } from '@gorules/zen-engine'
import type { PeerPackage } from '../peers.ts'
import type { Answer } from './answer.ts'
import type { DecisionCase } from './decision-case.ts'
import type { ZenGraph } from './zen-graph.ts'

/** What the graphs put out: the hits as a list, or every rule with its answer. */
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
