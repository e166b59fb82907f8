import type { FactValue } from '../../facts/facts.ts'
import { findFeature, isMeasured } from '../../facts/feature-catalogue.ts'
import { kindOf } from '../compile/compile-products.ts'
import type { PolicyDocument, PolicyInput, PolicyProduct } from '../policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/**
 * Finds facts in a policy's own tests that no decision reads, and requests that no decision is made on: such a test does not
 * test what it seems to.
 */
export function checkTests({ tests, inputs, products, segments = [] }: PolicyDocument): PolicyProblem[] {
  const names = ['none', ...segments.map(({ name }) => name)]
  return tests.flatMap(({ facts, missing = {}, expect }, index) => [
    ...Object.entries(facts).flatMap(([feature, value]) => {
      const message = nameProblem(feature, inputs) ?? typeProblem(feature, value, inputs)
      return message === undefined ? [] : [{ path: ['tests', index, 'facts', feature], message }]
    }),
    ...Object.keys(missing).flatMap((feature) => {
      const twice = `${feature} is known and missing; remove it from 'facts' or 'missing'`
      const message = Object.hasOwn(facts, feature) ? twice : nameProblem(feature, inputs)
      return message === undefined ? [] : [{ path: ['tests', index, 'missing', feature], message }]
    }),
    ...amountProblems(facts, products, index),
    ...termProblems(facts, products, index),
    ...segmentProblems(expect.segment, names, index),
  ])
}

function nameProblem(feature: string, inputs: readonly PolicyInput[]): string | undefined {
  if (isMeasured(feature)) return `${feature} is computed when deciding; set request.amount instead`
  if (feature.startsWith('derived.')) return `${feature} is computed when deciding; set what it is computed from`
  if (knownFeature(feature, inputs) !== undefined) return undefined
  return feature.startsWith('snapshot.')
    ? `${feature} is not among the inputs of this policy; add it there`
    : `there is no feature '${feature}' in the catalogue`
}

function typeProblem(feature: string, value: FactValue, inputs: readonly PolicyInput[]): string | undefined {
  const known = knownFeature(feature, inputs)
  return known === undefined || typeof value === known.type ? undefined : `${feature} is a ${known.type}`
}

/** A feature that callers send has only the type that the policy gives it. */
function knownFeature(feature: string, inputs: readonly PolicyInput[]): Pick<PolicyInput, 'type'> | undefined {
  return feature.startsWith('snapshot.') ? inputs.find((input) => input.feature === feature) : findFeature(feature)
}

function termProblems(
  { 'request.term_months': term, ...facts }: PolicyDocument['tests'][number]['facts'],
  products: readonly PolicyProduct[],
  index: number,
): PolicyProblem[] {
  const product = productOf(facts, products)
  if (term === undefined || product === undefined) return []
  const { term_months, term_choices = [] } = product
  const terms = term_choices.length === 0 ? [] : [term_months, ...term_choices]
  if (terms.includes(Number(term))) return []
  const path = ['tests', index, 'facts', 'request.term_months']
  const choice =
    terms.length === 0 ? 'has no term_choices; remove it' : `has the terms ${terms.join(', ')}; write one of them`
  return [{ path, message: `'${product.product}' ${choice}` }]
}

/** The product of a test. A test without one, or with one that is not listed, is of `default`, as such a request. */
function productOf(
  { 'request.product': name = 'default' }: PolicyDocument['tests'][number]['facts'],
  products: readonly PolicyProduct[],
): PolicyProduct | undefined {
  return products.find((one) => one.product === name) ?? products.find((one) => one.product === 'default')
}

function amountProblems(
  facts: PolicyDocument['tests'][number]['facts'],
  products: readonly PolicyProduct[],
  index: number,
): PolicyProblem[] {
  const { 'request.product': name = 'default', 'request.amount': amount } = facts
  const product = productOf(facts, products)
  if (product === undefined) return []
  const kind = kindOf(product)
  if ((kind === 'credit') === (amount !== undefined)) return []
  const message =
    kind === 'credit'
      ? `'${name}' is credit; add request.amount and request.currency, or set request.product to a product of kind access`
      : `'${name}' is access; remove request.amount and request.currency, or set request.product to a product of kind credit`
  return [{ path: ['tests', index, 'facts'], message }]
}

function segmentProblems(segment: string | undefined, names: readonly string[], index: number): PolicyProblem[] {
  if (segment === undefined || names.includes(segment)) return []
  const message = `there is no segment '${segment}'; write one of ${names.join(', ')}`
  return [{ path: ['tests', index, 'expect', 'segment'], message }]
}
