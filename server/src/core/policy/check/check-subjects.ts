import type { ASTNode } from '@marcbachmann/cel-js'
import { featureIn, parseExpression } from '../expression/compile-expression.ts'
import { expressionsOf } from '../expression/policy-expressions.ts'
import { operandsOf } from '../expression/type-expression.ts'
import { basisInName, ELDERLY, prohibitedIn } from '../feature-subjects.ts'
import type { PolicyCharacteristic, PolicyDocument, PolicyInput } from '../policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/**
 * Finds inputs that describe what the law does not let a lender decide by, ages that count against the old, monitored attributes
 * within reach of the policy, and, as a warning, features of which nothing is declared.
 */
export function checkSubjects(document: PolicyDocument): PolicyProblem[] {
  return [
    ...document.inputs.flatMap((input, index) => inputProblem(document, input, index) ?? []),
    ...ageProblems(document),
    ...monitoredProblems(document),
  ]
}

function inputProblem(
  { jurisdiction }: PolicyDocument,
  { feature, describes }: PolicyInput,
  index: number,
): PolicyProblem | undefined {
  const path = ['inputs', index, describes === undefined ? 'feature' : 'describes']
  if (!feature.startsWith('snapshot.')) {
    if (describes === undefined) return undefined
    return { path, message: `the catalogue says what ${feature} describes; remove 'describes'` }
  }
  if (describes === undefined) return undeclared(feature, path)
  if (!prohibitedIn(jurisdiction).has(describes)) return undefined
  const where = jurisdiction === undefined ? 'in a jurisdiction, and this policy names none' : `under '${jurisdiction}'`
  const instead =
    jurisdiction === undefined ? `remove it, or name the 'jurisdiction'` : `remove it, or list it under 'monitored'`
  return { path, message: `${feature} describes ${describes}, a prohibited basis ${where}; ${instead}` }
}

function undeclared(feature: string, path: (string | number)[]): PolicyProblem {
  const basis = basisInName(feature)
  if (basis === undefined) {
    const message = `say what ${feature} describes, by 'describes', so that prohibited bases can be told from it`
    return { path, message, isWarning: true }
  }
  return {
    path,
    message: `by its name ${feature} describes ${basis}; say what it describes, by 'describes', or remove it`,
  }
}

/** From this age on a rule is no longer about whether a person may make a contract. */
const OF_AGE_MAX = 25
function ageProblems(document: PolicyDocument): PolicyProblem[] {
  const ages = new Set(document.inputs.filter(({ describes }) => describes === 'age').map(({ feature }) => feature))
  if (ages.size === 0) return []
  const inExpressions = expressionsOf(document).flatMap(({ path, source }): PolicyProblem[] => {
    const feature = ageReadIn(source, ages)
    if (feature === undefined) return []
    const message = `${feature} describes age, and a condition may only ask whether it is below a number up to ${OF_AGE_MAX}; score it, with no fewer points for the old`
    return [{ path, message }]
  })
  const cards = [
    { card: document.scorecard, path: ['scorecard'] as (string | number)[] },
    ...(document.segments ?? []).flatMap(({ scorecard: card }, index) =>
      card === undefined ? [] : [{ card, path: ['segments', index, 'scorecard'] }],
    ),
  ]
  const inCards = cards.flatMap(({ card, path }) =>
    card.characteristics.flatMap((characteristic, index): PolicyProblem[] => {
      if (!ages.has(characteristic.feature) || favoursElderly(characteristic)) return []
      const message = `applicants of ${ELDERLY} years or more get fewer points by '${characteristic.id}' than younger ones; give the old at least the most that others get`
      return [{ path: [...path, 'characteristics', index, 'bins'], message }]
    }),
  )
  return [...inExpressions, ...inCards]
}

/** The first age that an expression reads otherwise than to ask for legal age, or for whether it is known. */
function ageReadIn(source: string, ages: ReadonlySet<string>): string | undefined {
  const read = (node: ASTNode): string | undefined => {
    const feature = featureIn(node)
    if (feature !== undefined) return ages.has(feature) ? feature : undefined
    if (node.op === 'call' && ASKS_ONLY.includes(node.args[0])) return undefined
    const [left, right] = operandsOf(node)
    if ((node.op === '<' || node.op === '<=') && left && right && isOfAge(right) && featureIn(left)) return undefined
    return operandsOf(node)
      .map(read)
      .find((found) => found !== undefined)
  }
  try {
    return read(parseExpression(source))
  } catch {
    // An expression that does not parse is reported where it is compiled.
    return undefined
  }
}

const ASKS_ONLY: readonly unknown[] = ['has', 'missing_because', 'age_days']

function isOfAge(node: ASTNode): boolean {
  return node.op === 'value' && Number(node.args) <= OF_AGE_MAX
}

/** Whether the bins that hold an elderly age give at least the most points of all bins (12 CFR 1002.6(b)(2)). */
function favoursElderly({ bins }: PolicyCharacteristic): boolean {
  const most = Math.max(...bins.map(({ points }) => points))
  const ofElderly = bins.filter(({ below }) => below === undefined || below > ELDERLY)
  return ofElderly.every(({ points }) => points >= most)
}

function monitoredProblems({ monitored = [], inputs }: PolicyDocument): PolicyProblem[] {
  return monitored.flatMap(({ feature }, index): PolicyProblem[] => {
    const path = ['monitored', index, 'feature']
    if (inputs.some((input) => input.feature === feature))
      return [{ path, message: `${feature} is monitored, so no policy may read it; remove it from the inputs` }]
    if (monitored.findIndex((one) => one.feature === feature) < index)
      return [{ path, message: `'${feature}' is there twice; remove one` }]
    return []
  })
}
