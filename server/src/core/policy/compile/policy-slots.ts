import type { ASTNode } from '@marcbachmann/cel-js'
import type { FeatureName } from '../../facts/feature-catalogue.ts'
import type { FeatureType } from '../../vocabularies.ts'
import { asideName, featureIn, parseExpression } from '../expression/compile-expression.ts'
import { expressionsOf } from '../expression/policy-expressions.ts'
import { type FeatureTypes, operandsOf } from '../expression/type-expression.ts'
import type { PolicyDocument } from '../policy-document.ts'
import { JUDGED_NAMES, JUDGED_VARIABLES, type JudgedVariable } from './judged-variables.ts'

/** The cause or the age of a feature, in a slot of its own. */
export interface Aside {
  kind: 'cause' | 'age'
  /** The slot of the feature. */
  of: number
  slot: number
}

/**
 * Where a decision keeps the values that expressions read, by name: the inputs, the derived features, the variables that
 * are known once an amount was judged, and the causes and ages that an expression asks for.
 */
export interface PolicySlots {
  /** What can be read before the score: all but the variables. */
  before: ReadonlyMap<string, number>
  /** What the terms of a limit can read: all but `limit.amount`. */
  terms: ReadonlyMap<string, number>
  all: ReadonlyMap<string, number>
  /** What meanings can read: as the terms of a limit, and the figures of the request even where they are no inputs. */
  meanings: ReadonlyMap<string, number>
  types: FeatureTypes
  /** The name of the feature, variable or figure in each slot; empty for a cause or an age. */
  names: readonly string[]
  firstVariable: number
  /** The slot of each variable. */
  variables: Readonly<Record<JudgedVariable, number>>
  asides: readonly Aside[]
}

/** The figures of a request that a meaning can read whether or not they are inputs. */
export const REQUEST_FIGURES = ['request.amount', 'request.instalment'] as const satisfies readonly FeatureName[]

/** The slots of documents; a check asks for them once for each rule, and documents never change. */
const slotsByDocument = new WeakMap<PolicyDocument, PolicySlots>()

/** Assigns a slot to everything that the expressions of a policy can read. */
export function policySlots(document: PolicyDocument): PolicySlots {
  const assigned = slotsByDocument.get(document) ?? assignSlots(document)
  slotsByDocument.set(document, assigned)
  return assigned
}

function assignSlots(document: PolicyDocument): PolicySlots {
  const { inputs, derived = [] } = document
  const features = [...inputs, ...derived].map(({ feature }) => feature)
  const featureSlots = new Map(features.map((feature, slot) => [feature, slot]))
  const firstVariable = features.length
  const asides = asidesIn(document, { featureSlots, firstSlot: firstVariable + JUDGED_NAMES.length })
  const known = [...featureSlots, ...asides.map(({ name, slot }) => [name, slot] as const)]
  const ofVariables = JUDGED_NAMES.map((name, index) => [name, firstVariable + index] as const)
  const terms = new Map([...known, ...ofVariables.filter(([name]) => name !== 'limit.amount')])
  const afterAsides = firstVariable + JUDGED_NAMES.length + asides.length
  const ofRequest = REQUEST_FIGURES.filter((name) => !featureSlots.has(name))
  return {
    before: new Map(known),
    terms,
    all: new Map([...known, ...ofVariables]),
    meanings: new Map([...terms, ...ofRequest.map((name, index) => [name, afterAsides + index] as const)]),
    types: new Map([
      ...REQUEST_FIGURES.map((name) => [name, 'number'] as const),
      ...[...inputs, ...derived].map(({ feature, type }) => [feature, type] as const),
      ...(Object.entries(JUDGED_VARIABLES) as [string, FeatureType][]),
    ]),
    names: [...features, ...JUDGED_NAMES, ...asides.map(() => ''), ...ofRequest],
    firstVariable,
    variables: Object.fromEntries(ofVariables) as Record<JudgedVariable, number>,
    asides,
  }
}

const ASIDE_KINDS: Readonly<Record<string, Aside['kind']>> = { missing_because: 'cause', age_days: 'age' }

/** Finds the calls of `missing_because` and `age_days`, each once. */
function asidesIn(
  document: PolicyDocument,
  { featureSlots, firstSlot }: { featureSlots: ReadonlyMap<string, number>; firstSlot: number },
): (Aside & { name: string })[] {
  const found = new Map<string, Aside & { name: string }>()
  const visit = (node: ASTNode): void => {
    const kind = node.op === 'call' ? ASIDE_KINDS[node.args[0]] : undefined
    const feature = node.op === 'call' && node.args[1][0] ? featureIn(node.args[1][0]) : undefined
    const of = feature === undefined ? undefined : featureSlots.get(feature)
    if (node.op === 'call' && kind !== undefined && of !== undefined) {
      const name = asideName(node.args[0], feature!)
      if (!found.has(name)) found.set(name, { name, kind, of, slot: firstSlot + found.size })
    }
    operandsOf(node).forEach(visit)
  }
  for (const { source } of expressionsOf(document)) {
    if (!MAY_HAVE_ASIDES.test(source)) continue
    try {
      visit(parseExpression(source))
    } catch {
      // An expression that does not parse is reported where it is compiled.
    }
  }
  return [...found.values()]
}

const MAY_HAVE_ASIDES = /missing_because|age_days/
