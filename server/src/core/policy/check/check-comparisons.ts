import type { ASTNode } from '@marcbachmann/cel-js'
import { findFeature } from '../../facts/feature-catalogue.ts'
import { derivedIn } from '../compile/compile-derived.ts'
import { policySlots } from '../compile/policy-slots.ts'
import { featureIn, parseExpression } from '../expression/compile-expression.ts'
import { expressionsOf, type PolicyExpression } from '../expression/policy-expressions.ts'
import { operandsOf } from '../expression/type-expression.ts'
import type { PolicyDocument } from '../policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** Finds comparisons that never hold: with a tier or segment that does not exist, or with the age of what does not age. */
export function checkComparisons(document: PolicyDocument): PolicyProblem[] {
  const known: Known = { names: namesIn(document), ageless: agelessDerived(document) }
  return expressionsOf(document).flatMap((expression) => {
    if (!MAY_COMPARE.test(expression.source)) return []
    try {
      return problemsIn(parseExpression(expression.source), { expression, known })
    } catch {
      // An expression that does not parse is reported where it is compiled.
      return []
    }
  })
}

interface Known {
  /** The texts that a variable can have. */
  names: ReadonlyMap<string, readonly string[]>
  /** The derived features that read nothing that ages. */
  ageless: ReadonlySet<string>
}

const MAY_COMPARE = /\b(tier|segment)\s*\.|\bage_days\b/

/** The texts that `tier.name` and `segment.name` can have. */
export function namesIn({ tiers, segments = [] }: PolicyDocument): Known['names'] {
  const all = [...tiers, ...segments.flatMap((segment) => segment.tiers ?? [])]
  return new Map([
    ['tier.name', [...new Set(all.map(({ tier }) => tier))]],
    ['segment.name', ['', ...segments.map(({ name }) => name)]],
  ])
}

/** A derived feature is as old as what it reads, so one pass in the order of the document suffices. */
function agelessDerived(document: PolicyDocument): ReadonlySet<string> {
  const ageless = new Set<number>(
    document.inputs.flatMap(({ feature }, slot) => (findFeature(feature)?.half_life_days === null ? [slot] : [])),
  )
  const derived = derivedIn(document, policySlots(document))
  for (const { slot, reads } of derived) if (reads.every((read) => ageless.has(read))) ageless.add(slot)
  return new Set(derived.flatMap(({ slot, feature }) => (ageless.has(slot) ? [feature] : [])))
}

function problemsIn(node: ASTNode, place: { expression: PolicyExpression; known: Known }): PolicyProblem[] {
  const { path } = place.expression
  const here = ageProblem(node, place.known) ?? nameProblem(node, place.known)
  return [
    ...(here ? [{ path, offset: here.offset, message: `column ${here.offset + 1}: ${here.message}` }] : []),
    ...operandsOf(node).flatMap((operand) => problemsIn(operand, place)),
  ]
}

function ageProblem(node: ASTNode, { ageless }: Known): { offset: number; message: string } | undefined {
  if (node.op !== 'call' || node.args[0] !== 'age_days') return undefined
  const feature = node.args[1][0] && featureIn(node.args[1][0])
  if (feature === undefined || !ageless.has(feature)) return undefined
  return { offset: node.start, message: `${feature} reads nothing that ages; remove age_days` }
}

function nameProblem(node: ASTNode, { names }: Known): { offset: number; message: string } | undefined {
  if (node.op !== '==' && node.op !== '!=' && node.op !== 'in') return undefined
  for (const [one, other] of [node.args, node.args.toReversed()] as [ASTNode, ASTNode][]) {
    const variable = featureIn(one) ?? ''
    const possible = names.get(variable)
    if (possible === undefined) continue
    const written = other.op === 'list' ? other.args : [other]
    const wrong = written.find(({ op, args }) => op === 'value' && typeof args === 'string' && !possible.includes(args))
    if (wrong === undefined) continue
    const list = possible.map((name) => (name === '' ? '""' : name)).join(', ')
    return { offset: wrong.start, message: `${variable} is never this; write one of ${list}` }
  }
  return undefined
}
