import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MissingBecause } from '../../server/src/core/facts/facts.ts'
import { findFeature } from '../../server/src/core/facts/feature-catalogue.ts'
import { describeProblem } from '../../server/src/core/policy/check/policy-problem.ts'
import type {
  CompiledCharacteristic,
  CompiledPolicy,
  Reason,
} from '../../server/src/core/policy/compile/compiled-policy.ts'
import { parsePolicy } from '../../server/src/core/policy/parse-policy.ts'
import { code, codes, type Page, table } from './markdown.ts'

const SOURCE = 'policies/sandbox-policy-v1.yaml'
const ROOT = join(import.meta.dirname, '../..')

/** A reason, and one place of the policy that gives it. */
interface Origin {
  reason: Pick<Reason, 'code' | 'label' | 'impact'>
  from: string
}

/** The reason and condition codes of the sandbox policy. */
export function reasonCodesPage(): Page {
  const policy = readPolicy()
  const origins = [...ruleOrigins(policy), ...scoreOrigins(policy), ...missingOrigins(policy), ...limitOrigins(policy)]
  return {
    title: 'Reason codes',
    lists: 'the reason and condition codes of `sandbox-policy-v1`',
    source: SOURCE,
    body: [
      'Every policy defines its own codes. [From facts to verdict](../deciding.md) explains which reasons a decision gives; [Features](features.md) explains the names of the features.',
      '## Negative reasons',
      reasonTable(origins.filter(({ reason }) => reason.impact === 'negative')),
      '## Positive reasons',
      reasonTable(origins.filter(({ reason }) => reason.impact === 'positive')),
      '## Conditions',
      'An approval with conditions lists what has to be done before it stands.',
      conditionTable(policy),
    ],
  }
}

function readPolicy(): CompiledPolicy {
  const result = parsePolicy(readFileSync(join(ROOT, SOURCE), 'utf8'))
  if ('policy' in result) return result.policy
  throw new Error(result.problems.map(describeProblem).join('\n'))
}

function ruleOrigins({ rules, document }: CompiledPolicy): Origin[] {
  return rules.map(({ reason, action }, index) => ({
    reason,
    from: `Rule (${code(action)}): ${code(document.rules[index]!.when)}`,
  }))
}

function scoreOrigins({ characteristics }: CompiledPolicy): Origin[] {
  return characteristics.flatMap(({ id, feature, bins }) => {
    // The bins of a characteristic differ in their points, not in their reasons.
    const { lack, strength } = bins[0]!
    return [
      { reason: lack.reason, from: `Characteristic ${code(id)}: ${code(feature)} scores below the reference` },
      { reason: strength.reason, from: `Characteristic ${code(id)}: ${code(feature)} scores above the reference` },
    ]
  })
}

interface MissingCause {
  words: string
  because: readonly MissingBecause[]
  reasonOf(characteristic: CompiledCharacteristic): Reason
}

const MISSING_CAUSES: readonly MissingCause[] = [
  { words: 'Missing input', because: ['no_data', 'too_short'], reasonOf: ({ missingBin }) => missingBin.lack.reason },
  {
    words: 'Consent revoked or expired',
    because: ['consent_revoked', 'consent_expired'],
    reasonOf: ({ withheldBin }) => withheldBin.lack.reason,
  },
  {
    words: 'Data in another currency only',
    because: ['other_currency'],
    reasonOf: ({ otherCurrencyBin }) => otherCurrencyBin.lack.reason,
  },
]

/** Only the features of the scorecard: a missing feature that is not scored gives no reason. */
function missingOrigins({ characteristics }: CompiledPolicy): Origin[] {
  return MISSING_CAUSES.flatMap(({ words, because, reasonOf }) => {
    const affected = characteristics.filter(({ feature }) => canBeMissing(feature, because))
    return [...Map.groupBy(affected, (characteristic) => reasonOf(characteristic).code).values()].map((members) => ({
      reason: reasonOf(members[0]!),
      from: `${words}: ${codes(members.map(({ feature }) => feature))}`,
    }))
  })
}

/** A feature that is not in the catalogue comes from a snapshot, and can be missing for any reason. */
function canBeMissing(feature: string, because: readonly MissingBecause[]): boolean {
  const reasons = findFeature(feature)?.missing_because ?? because
  return reasons.some((reason) => because.includes(reason))
}

function limitOrigins({ limitReasons }: CompiledPolicy): Origin[] {
  return Array.from(limitReasons, ([name, reason]) => ({ reason, from: `Limit: ${limitOrigin(name)}` }))
}

function limitOrigin(name: string): string {
  if (name === 'unknown') return 'cannot be computed'
  if (name === 'unlisted_currency') return 'the currency is not among `limit.currencies`'
  return name === 'risk' ? 'the score allows only a smaller amount' : `bound by the term ${code(name)}`
}

function reasonTable(origins: readonly Origin[]): string {
  const byCode = Map.groupBy(origins, ({ reason }) => reason.code)
  return table(
    ['code', 'label', 'where it comes from'],
    [...byCode].map(([name, members]) => [
      code(name),
      members[0]!.reason.label,
      members.map(({ from }) => from).join('\n'),
    ]),
  )
}

function conditionTable({ document }: CompiledPolicy): string {
  const { reduced_amount } = document.limit
  const ofRules = document.rules.flatMap(({ condition, when }) =>
    condition ? [[code(condition.code), condition.label, `Rule: ${code(when)}`]] : [],
  )
  const reduced = [code(reduced_amount.code), reduced_amount.label, 'Limit: lower than the requested amount']
  return table(['code', 'label', 'where it comes from'], [...ofRules, reduced])
}
