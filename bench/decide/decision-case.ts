import fc from 'fast-check'
import { measureRequest } from '../../server/src/core/decide/measure-request.ts'
import { readFigures } from '../../server/src/core/decide/read-figures.ts'
import { readSlots } from '../../server/src/core/decide/read-slots.ts'
import { deriveFacts } from '../../server/src/core/facts/derive-facts.ts'
import {
  applyConsent,
  applyIdentityLink,
  applyTransactions,
  type EntityState,
  emptyState,
} from '../../server/src/core/facts/entity-state.ts'
import { type Fact, type Facts, type FactValue, known, missing } from '../../server/src/core/facts/facts.ts'
import { factsFrom } from '../../server/src/core/facts/facts-from.ts'
import { isMeasured } from '../../server/src/core/facts/feature-catalogue.ts'
import type { CompiledPolicy } from '../../server/src/core/policy/compile/compiled-policy.ts'
import { arbitraryFacts } from '../../server/tests/arbitrary-facts.ts'
import { type Persona, personas } from '../../server/tests/personas.ts'
import { computedOperands, operandValue, writtenOperand } from './rule-condition.ts'

/** One case to decide, in the form that each engine reads fastest. */
export interface DecisionCase {
  name: string
  /** Input of `decide` and of the hand-written function. */
  facts: Facts
  /** Input of json-rules-engine: the policy's inputs by full name, null where missing. */
  flat: Record<string, FactValue | null>
  /** Input of zen: the same by namespace and name. */
  nested: Record<string, Record<string, FactValue | null>>
}

/** The input that says whether a characteristic applies; without an amount, those of the account and the instalment do not. */
export function appliesInput(characteristic: string): string {
  return `applies.${characteristic}`
}

const NOW = '2026-07-15T12:00:00.000Z'
const SEED = 20260715

/** The personas, the policy's own tests, and random facts over the whole catalogue; seeded, so the same in every run. */
export function decisionCases(policy: CompiledPolicy, generated: number): DecisionCase[] {
  const named = personas(NOW).map((persona) => ({ name: persona.name, facts: personaFacts(persona) }))
  const written = policy.document.tests.map(({ name, facts, age_days }) => ({
    name,
    facts: asDerived(factsFrom(facts, age_days)),
  }))
  const random = fc
    .sample(arbitraryFacts, { seed: SEED, numRuns: generated })
    .map((facts, index) => ({ name: `generated ${index}`, facts: asDerived(facts) }))
  return [...named, ...written, ...random].map(({ name, facts }) => ({ name, facts, ...peerInputs(policy, facts) }))
}

/**
 * Rebuilds facts as `deriveFacts` builds them: every feature of the catalogue except those that are measured, in the order
 * of their names. fast-check's objects often have no prototype, and V8 keeps those as slow dictionaries; real facts never
 * are.
 */
function asDerived({ features }: Facts): Facts {
  const made = Object.entries({ ...factsFrom({}).features, ...features })
    .filter(([name]) => !isMeasured(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, fact]): [string, Fact] => [
      name,
      'value' in fact ? known(fact.value, fact.age_days) : missing(fact.missing),
    ])
  return { features: Object.fromEntries(made), format: 1 }
}

/**
 * The inputs of the peers. Stale facts are already removed and the instalment and its ratios already computed; `decide`
 * does both inside the measurement.
 */
export function peerInputs(policy: CompiledPolicy, { features }: Facts): Pick<DecisionCase, 'flat' | 'nested'> {
  const request = measureRequest(readFigures(policy, features))
  const { values, missing } = readSlots(policy, features, request)
  const flat: DecisionCase['flat'] = {}
  const nested: DecisionCase['nested'] = {}
  const put = (feature: string, value: FactValue | null) => {
    const [namespace = '', name = ''] = feature.split('.')
    flat[feature] = value
    nested[namespace] = { ...nested[namespace], [name]: value }
  }
  policy.inputs.forEach(({ feature }, slot) => {
    put(feature, values[slot] ?? null)
  })
  for (const { id, slot } of policy.characteristics) put(appliesInput(id), missing[slot] !== 'not_requested')
  for (const operand of computedOperands(policy.document)) flat[writtenOperand(operand)] = operandValue(operand, flat)
  return { flat, nested }
}

function personaFacts(persona: Persona): Facts {
  const { product, requested_amount: requestedAmount, currency } = persona.underwrite
  const request = {
    product,
    ...(requestedAmount !== undefined && { requestedAmount }),
    ...(currency !== undefined && { currency }),
  }
  return deriveFacts({ state: personaState(persona), entity: persona.entity, request, now: NOW })
}

function personaState({ identityLinks, consents, transactions, associate }: Persona): EntityState {
  let state = emptyState()
  for (const { identifier, verification } of identityLinks) {
    const { status, verified_at: verifiedAt } = verification
    const identity = { type: identifier.type, hash: Buffer.from(identifier.value).toString('hex') }
    const verified = { status, ...(verifiedAt !== undefined && { verifiedAt }) }
    state = applyIdentityLink(state, { identifier: identity, verification: verified, createdAt: NOW })
  }
  for (const { purpose, status, data_categories: dataCategories, granted_at: grantedAt } of consents) {
    state = applyConsent(state, { purpose, status, dataCategories, grantedAt })
  }
  const booked = transactions.map(({ external_id, occurred_at, balance_after, ...transaction }) => ({
    ...transaction,
    externalId: external_id,
    occurredAt: occurred_at,
    balanceAfter: balance_after,
  }))
  state = applyTransactions(state, booked)
  // A shared verified identifier (strength 0.9) with an entity that has one default (track record ½): exposure 0.45.
  return associate ? { ...state, graph: { ...state.graph, negativeExposure: 0.45 } } : state
}
