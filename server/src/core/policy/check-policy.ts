import { checkInputs, checkMissingReasons } from './check-inputs.ts'
import { checkRules } from './check-rules.ts'
import { checkRunnable } from './check-runnable.ts'
import { checkTests } from './check-tests.ts'
import { refusedForPayments } from './payment-features.ts'
import type { PolicyCharacteristic, PolicyDocument } from './policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

type Check = (document: PolicyDocument) => PolicyProblem[]

/** Finds what a schema cannot check: undefined names, overlapping ranges, tables out of order. */
export function checkPolicy(document: PolicyDocument): PolicyProblem[] {
  return CHECKS.flatMap((check) => check(document))
}

const CHECKS: readonly Check[] = [
  checkInputs,
  checkMissingReasons,
  checkRules,
  checkRunnable,
  checkCharacteristics,
  checkReferences,
  checkTables,
  checkTiers,
  checkUniqueness,
  checkTests,
]

function checkCharacteristics({ scorecard, inputs }: PolicyDocument): PolicyProblem[] {
  return scorecard.characteristics.flatMap((characteristic, index) => {
    const path = ['scorecard', 'characteristics', index]
    const input = inputs.find(({ feature }) => feature === characteristic.feature)
    if (input === undefined) return []
    const refusal = refusedForPayments(characteristic.feature)
    if (refusal !== undefined) return [{ path: [...path, 'feature'], message: refusal }]
    const message = binsProblem(characteristic.bins, input.type)
    return message === undefined ? [] : [{ path: [...path, 'bins'], message }]
  })
}

function binsProblem(bins: PolicyCharacteristic['bins'], type: string): string | undefined {
  const last = bins.at(-1)
  if (last?.below !== undefined || last?.equals !== undefined) return 'the last bin must hold all other values'
  const others = bins.slice(0, -1)
  if (type === 'number') {
    const bounds = others.map(({ below }) => below)
    const isAscending = bounds.every((bound, index) => bound !== undefined && bound > (bounds[index - 1] ?? -Infinity))
    return isAscending && others.every(({ equals }) => equals === undefined)
      ? undefined
      : "every bin but the last needs a 'below', each higher than the one before"
  }
  const isListed = others.every(({ below, equals }) => below === undefined && typeof equals === type)
  return isListed ? undefined : `every bin but the last needs an 'equals' with a ${type}`
}

/** If base and references reach the cutoff, every score below it has a shortfall to give as its reason. */
function checkReferences({ scorecard, verdicts }: PolicyDocument): PolicyProblem[] {
  const reference = scorecard.characteristics.reduce((sum, characteristic) => sum + characteristic.reference, 0)
  if (scorecard.base + reference >= verdicts.cutoff) return []
  const message = `base and references add up to ${scorecard.base + reference}, below the cutoff of ${verdicts.cutoff}`
  return [{ path: ['scorecard', 'characteristics'], message }]
}

function checkTables({ scorecard }: PolicyDocument): PolicyProblem[] {
  const { probability, normal } = scorecard
  const problems: PolicyProblem[] = []
  if (!isAscending(probability.map(({ score }) => score))) {
    problems.push({ path: ['scorecard', 'probability'], message: 'scores must ascend' })
  }
  if (!isAscending(probability.map(({ bad_ppm }) => -bad_ppm))) {
    problems.push({ path: ['scorecard', 'probability'], message: 'a better score must mean a lower probability' })
  }
  if (probability.some(({ bad_ppm }) => bad_ppm === 0)) {
    problems.push({ path: ['scorecard', 'probability'], message: 'no score makes a bad outcome impossible' })
  }
  if (normal[0]?.z !== 0 || !isAscending(normal.map(({ z }) => z)) || !isAscending(normal.map(({ ppm }) => ppm))) {
    problems.push({ path: ['scorecard', 'normal'], message: 'rows must ascend from z = 0' })
  }
  return problems
}

function checkTiers({ tiers }: PolicyDocument): PolicyProblem[] {
  const bounds = tiers.slice(0, -1).map(({ from }) => from)
  const isDescending = bounds.every((from, index) => from !== undefined && from < (bounds[index - 1] ?? Infinity))
  if (isDescending) return []
  return [{ path: ['tiers'], message: "every tier but the last needs a 'from', each lower than the one before" }]
}

function checkUniqueness(document: PolicyDocument): PolicyProblem[] {
  const { missing_reasons, inputs, rules, scorecard, tiers, products, limit, tests } = document
  return [
    ...duplicates(
      ['missing_reasons'],
      missing_reasons.map(({ code }) => code),
    ),
    ...duplicates(
      ['inputs'],
      inputs.map(({ feature }) => feature),
    ),
    ...duplicates(
      ['rules'],
      rules.map(({ id }) => id),
    ),
    ...duplicates(
      ['scorecard', 'characteristics'],
      scorecard.characteristics.map(({ id }) => id),
    ),
    ...duplicates(
      ['tiers'],
      tiers.map(({ tier }) => tier),
    ),
    ...duplicates(
      ['products'],
      products.map(({ product }) => product),
    ),
    ...duplicates(
      ['limit', 'currencies'],
      limit.currencies.map(({ currency }) => currency),
    ),
    ...duplicates(
      ['tests'],
      tests.map(({ name }) => name),
    ),
  ]
}

function duplicates(path: (string | number)[], names: readonly string[]): PolicyProblem[] {
  return names.flatMap((name, index) =>
    names.indexOf(name) < index ? [{ path: [...path, index], message: `'${name}' is there twice` }] : [],
  )
}

function isAscending(values: readonly number[]): boolean {
  return values.every((value, index) => index === 0 || value > (values[index - 1] ?? Infinity))
}
