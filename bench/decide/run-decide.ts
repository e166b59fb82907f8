import { canonicalJson } from '../../server/src/core/canonical-json.ts'
import { decide } from '../../server/src/core/decide/decide.ts'
import { compileStoredPolicy } from '../../server/src/core/policy/compile-policy.ts'
import type { CompiledPolicy } from '../../server/src/core/policy/compiled-policy.ts'
import { sandboxPolicy } from '../../server/tests/sandbox-policy.ts'
import type { Effort, Measured } from '../bench.ts'
import { type Contender, interleave } from '../interleave.ts'
import { type Answer, assertAgreement } from './answer.ts'
import { type DecisionCase, decisionCases } from './decision-case.ts'
import { decideByHand } from './hand-written.ts'
import { jsonRulesEngine } from './json-rules.ts'
import { zenDecision } from './zen.ts'
import { zenExpressions, zenTables } from './zen-graph.ts'

const GENERATED_CASES = 500
const GENERATED_QUICKLY = 60
const CASES_AT_ONCE = 16

/** Measures one decision under the sandbox policy, ours and elsewhere, after checking that all come to the same. */
export async function runDecide(effort: Effort): Promise<Measured> {
  const policy = asStored(sandboxPolicy())
  const cases = decisionCases(policy, effort.isQuick ? GENERATED_QUICKLY : GENERATED_CASES)
  const traced = zenDecision(zenTables(policy.document), true)
  const asText = zenDecision(zenTables(policy.document), 'string')
  const untraced = zenDecision(zenTables(policy.document), false)
  const asExpressions = zenDecision(zenExpressions(policy.document), true)
  const jsonRules = jsonRulesEngine(policy.document)

  effort.say(`  comparing the answers on ${cases.length} cases`)
  assertSameVerdicts(policy, cases)
  await assertAgreement(cases, [
    { name: 'decide', answer: ({ facts }) => ourAnswer(policy, facts) },
    { name: 'hand-written', answer: ({ facts }) => handWrittenAnswer(facts) },
    { name: 'json-rules-engine', answer: jsonRules },
    { name: 'zen', answer: traced.answer },
    { name: 'zen without trace', answer: untraced.answer },
    { name: 'zen expressions', answer: asExpressions.answer },
  ])

  const series = await interleave(
    [
      inTurn('ours', cases, ({ facts }) => decide(policy, facts)),
      atOnce('zen, with trace', cases, traced.evaluate),
      oneAtATime('zen, with trace, one at a time', cases, traced.evaluate),
      atOnce('zen, with trace as text', cases, asText.evaluate),
      atOnce('zen, as one expression node, with trace', cases, asExpressions.evaluate),
      atOnce('zen, without trace', cases, untraced.evaluate),
      oneAtATime('json-rules-engine', cases, jsonRules),
      inTurn('hand-written, no trace', cases, ({ facts }) => decideByHand(facts)),
    ],
    effort,
  )
  return {
    series,
    notes: [
      `${cases.length} cases compared: every engine names the same rules and the same score on each of them, missing values included`,
      `the hand-written function also gives the same verdict, tier and limit on each; it gives no reasons and no trace`,
    ],
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
    throw new Error(`the comparison is void: on '${name}' decide says ${ours}, by hand it is ${theirs}`)
  }
}

function inTurn(name: string, cases: readonly DecisionCase[], run: (one: DecisionCase) => object): Contender {
  return {
    name,
    operations: cases.length,
    pass() {
      // The last answer is returned, so that the compiler cannot drop the work.
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
    async pass() {
      for (const one of cases) await run(one)
    },
  } satisfies Contender
}

function atOnce(name: string, cases: readonly DecisionCase[], run: (one: DecisionCase) => Promise<object>): Contender {
  return {
    name,
    operations: cases.length,
    async pass() {
      for (let from = 0; from < cases.length; from += CASES_AT_ONCE) {
        await Promise.all(cases.slice(from, from + CASES_AT_ONCE).map(run))
      }
    },
  }
}

/** The policy as the service has it: read from the text that is stored, not from the file that people write. */
function asStored({ document, checksum }: CompiledPolicy): CompiledPolicy {
  const compiled = compileStoredPolicy({ document: canonicalJson(document), checksum })
  if (!('policy' in compiled)) throw new Error('the stored policy does not compile')
  return compiled.policy
}
