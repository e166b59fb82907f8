import type { FactValue } from '../../facts/facts.ts'
import type { FeatureType } from '../../vocabularies.ts'
import { chanceIn, paymentsIn } from '../compile/payment-features.ts'
import { policySlots } from '../compile/policy-slots.ts'
import type { PolicyCharacteristic, PolicyDocument } from '../policy-document.ts'
import { dependsOnAmount } from './check-limit.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** Finds characteristics with overlapping bins or by payments, tables out of order, and an external figure of another type. */
export function checkScorecard(document: PolicyDocument): PolicyProblem[] {
  return [...checkCharacteristics(document), ...checkTables(document), ...checkExternal(document)]
}

function checkCharacteristics(document: PolicyDocument): PolicyProblem[] {
  const slots = policySlots(document)
  return document.scorecard.characteristics.flatMap((characteristic, index) => {
    const path = ['scorecard', 'characteristics', index]
    const { feature } = characteristic
    const type = slots.types.get(feature)
    const slot = slots.before.get(feature)
    if (type === undefined || slot === undefined) return []
    const refusal = paymentsIn(document, [slot], slots) ?? chanceIn(document, [slot], slots)
    if (refusal !== undefined) return [{ path: [...path, 'feature'], message: refusal }]
    const message = binsProblem(characteristic.bins, type)
    return message === undefined ? [] : [{ path: [...path, 'bins'], message }]
  })
}

function binsProblem(bins: PolicyCharacteristic['bins'], type: FeatureType): string | undefined {
  const last = bins.at(-1)
  if (last?.below !== undefined || last?.equals !== undefined || last?.in !== undefined)
    return "the last bin must hold all other values; add one without 'below', 'equals' and 'in'"
  const others = bins.slice(0, -1)
  if (type === 'number') {
    const bounds = others.map(({ below }) => below)
    const isListed = bounds.every((bound, index) => bound !== undefined && bound > (bounds[index - 1] ?? -Infinity))
    return isListed && others.every((bin) => bin.equals === undefined && bin.in === undefined)
      ? undefined
      : "every bin but the last needs a 'below', each higher than the one before"
  }
  const values = others.map(({ equals, in: set, below }) => (below === undefined ? (set ?? [equals]) : []))
  const isListed = others.every(({ equals, in: set }, index) => {
    const hasOne = (equals === undefined) !== (set === undefined)
    return hasOne && values[index]!.length > 0 && values[index]!.every((value) => typeof value === type)
  })
  if (!isListed)
    return `every bin but the last needs an 'equals' with a ${type}${type === 'string' ? ", or an 'in' with texts" : ''}`
  const seen = new Set<FactValue | undefined>()
  const twice = values.flat().find((value) => seen.size === seen.add(value).size)
  return twice === undefined ? undefined : `'${twice}' is in two bins; remove it from one`
}

function checkTables({ scorecard }: PolicyDocument): PolicyProblem[] {
  const { probability = [], normal } = scorecard
  const problems: PolicyProblem[] = []
  if (!isAscending(probability.map(({ score }) => score))) {
    problems.push({ path: ['scorecard', 'probability'], message: 'scores must ascend' })
  }
  if (!isAscending(probability.map(({ bad_ppm }) => -bad_ppm))) {
    problems.push({ path: ['scorecard', 'probability'], message: 'a better score must mean a lower probability' })
  }
  if (probability.some(({ bad_ppm }) => bad_ppm === 0)) {
    const message = 'no score makes a bad outcome impossible; write a bad_ppm of 1 or more'
    problems.push({ path: ['scorecard', 'probability'], message })
  }
  if (normal[0]?.z !== 0 || !isAscending(normal.map(({ z }) => z)) || !isAscending(normal.map(({ ppm }) => ppm))) {
    problems.push({ path: ['scorecard', 'normal'], message: 'rows must ascend from z = 0' })
  }
  return problems
}

function checkExternal(document: PolicyDocument): PolicyProblem[] {
  const { external_probability: feature } = document.scorecard
  if (feature === undefined) return []
  const slots = policySlots(document)
  const path = ['scorecard', 'external_probability']
  const type = slots.types.get(feature)
  if (type !== undefined && type !== 'number')
    return [{ path, message: `${feature} is a ${type}; name a number from 0 to 1` }]
  const slot = slots.before.get(feature)
  if (slot === undefined) return []
  const byAmount = dependsOnAmount(document, [slot], slots)
  if (byAmount !== undefined) {
    const message = `${byAmount.split(',')[0]}, so it cannot be the probability; name what you send`
    return [{ path, message }]
  }
  const refusal = paymentsIn(document, [slot], slots) ?? chanceIn(document, [slot], slots)
  return refusal === undefined ? [] : [{ path, message: refusal }]
}

function isAscending(values: readonly number[]): boolean {
  return values.every((value, index) => value > (values[index - 1] ?? -Infinity))
}
