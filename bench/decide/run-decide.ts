import { canonicalJson } from '../../server/src/core/canonical-json.ts'
import { decide } from '../../server/src/core/decide/decide.ts'
import { compileStoredPolicy } from '../../server/src/core/policy/compile/compile-policy.ts'
import type { CompiledPolicy } from '../../server/src/core/policy/compile/compiled-policy.ts'
import type { PolicyDocument } from '../../server/src/core/policy/policy-document.ts'
import { sandboxPolicy } from '../../server/tests/sandbox-policy.ts'
import type { Effort, Measured } from '../bench.ts'
import { type Contender, interleave } from '../interleave.ts'
import { leftOutPeers, loadPeer, type PeerPackage } from '../peers.ts'
import { type Answer, assertAgreement, type Engine } from './answer.ts'
import { type DecisionCase, decisionCases } from './decision-case.ts'
import { decideByHand } from './hand-written.ts'
import { jsonRulesEngine } from './json-rules.ts'
import { zenDecision } from './zen.ts'
import { zenExpressions, zenTables } from './zen-graph.ts'

const GENERATED_CASES = 500
const GENERATED_CASES_QUICK = 60
const CASES_AT_ONCE = 16

/** What one engine adds to the comparison: the modes that have to agree, and the modes that are timed. */
interface Side {
  engines: Engine[]
  contenders: Contender[]
}

/** Measures one decision under the sandbox policy in every engine, after checking that all of them agree. */
export async function runDecide(effort: Effort): Promise<Measured> {
  const policy = asStored(sandboxPolicy())
  const cases = decisionCases(policy, effort.isQuick ? GENERATED_CASES_QUICK : GENERATED_CASES)
  const zen = await loadPeer('@gorules/zen-engine')
  const jsonRules = await loadPeer('json-rules-engine')
  const peers: Side[] = [
    ...('package' in zen ? [zenSide(zen.package, policy.document, cases)] : []),
    ...('package' in jsonRules ? [jsonRulesSide(jsonRules.package, policy.document, cases)] : []),
    handWrittenSide(cases),
  ]
  const leftOut = leftOutPeers({ '@gorules/zen-engine': zen, 'json-rules-engine': jsonRules })
  for (const reason of Object.values(leftOut)) effort.say(`  left out: ${reason}`)

  effort.say(`  comparing the answers on ${cases.length} cases`)
  assertSameVerdicts(policy, cases)
  const ours: Engine = { name: 'decide', answer: ({ facts }) => ourAnswer(policy, facts) }
  await assertAgreement(cases, [ours, ...peers.flatMap(({ engines }) => engines)])

  const contenders = [
    inTurn('ours', cases, ({ facts }) => decide(policy, facts)),
    ...peers.flatMap((side) => side.contenders),
  ]
  return {
    series: await interleave(contenders, effort),
    leftOut,
    notes: [
      `${cases.length} cases compared: on each, every engine gives the same rules and the same score, missing values included`,
      `the hand-written function also gives the same verdict, tier and limit on each; it gives no reasons and no trace`,
    ],
  }
}

function zenSide(
  zen: PeerPackage<'@gorules/zen-engine'>,
  document: PolicyDocument,
  cases: readonly DecisionCase[],
): Side {
  const traced = zenDecision(zen, zenTables(document), true)
  const asText = zenDecision(zen, zenTables(document), 'string')
  const untraced = zenDecision(zen, zenTables(document), false)
  const asExpressions = zenDecision(zen, zenExpressions(document), true)
  return {
    engines: [
      { name: 'zen', answer: traced.answer },
      { name: 'zen without trace', answer: untraced.answer },
      { name: 'zen expressions', answer: asExpressions.answer },
    ],
    contenders: [
      atOnce('zen, with trace', cases, traced.evaluate),
      oneAtATime('zen, with trace, one at a time', cases, traced.evaluate),
      atOnce('zen, with trace as text', cases, asText.evaluate),
      atOnce('zen, as one expression node, with trace', cases, asExpressions.evaluate),
      atOnce('zen, without trace', cases, untraced.evaluate),
    ],
  }
}

function jsonRulesSide(
  jsonRules: PeerPackage<'json-rules-engine'>,
  document: PolicyDocument,
  cases: readonly DecisionCase[],
): Side {
  const answer = jsonRulesEngine(jsonRules, document)
  return {
    engines: [{ name: 'json-rules-engine', answer }],
    contenders: [oneAtATime('json-rules-engine', cases, answer)],
  }
}

function handWrittenSide(cases: readonly DecisionCase[]): Side {
  return {
    engines: [{ name: 'hand-written', answer: ({ facts }) => handWrittenAnswer(facts) }],
    contenders: [inTurn('hand-written, no trace', cases, ({ facts }) => decideByHand(facts))],
  }
}

function ourAnswer(policy: CompiledPolicy, facts: DecisionCase['facts']): Answer {
  const { rule_trace, score } = decide(policy, facts).trace
  return { hits: rule_trace.filter(({ holds }) => holds === true).map(({ rule }) => rule), total: score.total }
}

function handWrittenAnswer(facts: DecisionCase['facts']): Answer {
  const { hits, score } = decideByHand(facts)
  return { hits, total: score }
}

function assertSameVerdicts(policy: CompiledPolicy, cases: readonly DecisionCase[]): void {
  for (const { name, facts } of cases) {
    const { verdict, tier, limit } = decide(policy, facts)
    const byHand = decideByHand(facts)
    if (verdict === byHand.verdict && tier === byHand.tier && limit === byHand.limit) continue
    const [ours, theirs] = [{ verdict, tier, limit }, byHand].map((answer) => JSON.stringify(answer))
    throw new Error(`the comparison is void: on '${name}' decide says ${ours}, the hand-written function ${theirs}`)
  }
}

function inTurn(name: string, cases: readonly DecisionCase[], run: (one: DecisionCase) => object): Contender {
  return {
    name,
    operations: cases.length,
    runAll() {
      // Returning the last answer keeps the compiler from dropping the work.
      let last: object | undefined
      for (const one of cases) last = run(one)
      return last
    },
  }
}

function oneAtATime(name: string, cases: readonly DecisionCase[], run: (one: DecisionCase) => Promise<object>) {
  return {
    name,
    operations: cases.length,
    async runAll() {
      for (const one of cases) await run(one)
    },
  } satisfies Contender
}

function atOnce(name: string, cases: readonly DecisionCase[], run: (one: DecisionCase) => Promise<object>): Contender {
  return {
    name,
    operations: cases.length,
    async runAll() {
      for (let from = 0; from < cases.length; from += CASES_AT_ONCE) {
        await Promise.all(cases.slice(from, from + CASES_AT_ONCE).map(run))
      }
    },
  }
}

/** Compiles the policy from its stored text, as the service does, instead of from the policy file. */
function asStored({ document, checksum }: CompiledPolicy): CompiledPolicy {
  const compiled = compileStoredPolicy({ document: canonicalJson(document), checksum })
  if (!('policy' in compiled)) throw new Error('the stored policy does not compile')
  return compiled.policy
}
