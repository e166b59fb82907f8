import { kindOf } from '../compile/compile-products.ts'
import { paymentsIn } from '../compile/payment-features.ts'
import { type PolicySlots, policySlots } from '../compile/policy-slots.ts'
import { checkExpression } from '../expression/check-expression.ts'
import { compileExpression } from '../expression/compile-expression.ts'
import type { PolicyDocument, PolicySegment } from '../policy-document.ts'
import { SEGMENT_ADDITIONS, SEGMENT_PARTS } from '../segment-document.ts'
import { dependsOnAmount } from './check-limit.ts'
import type { PolicyProblem } from './policy-problem.ts'
import { segmentProblem } from './segment-problem.ts'

/** Finds segments whose condition does not compile or depends on the amount, that change nothing, or list other products. */
export function checkSegments(document: PolicyDocument): PolicyProblem[] {
  const slots = policySlots(document)
  return (document.segments ?? []).flatMap((segment, index) => [
    ...conditionProblems(document, segment, { index, slots }),
    ...emptyProblems(segment, index),
    ...nameProblems(segment, index),
    ...productProblems(document, segment, index),
  ])
}

function conditionProblems(
  document: PolicyDocument,
  segment: PolicySegment,
  { index, slots }: { index: number; slots: PolicySlots },
): PolicyProblem[] {
  const wrong = checkExpression(segment.when, { slotOf: slots.before, types: slots.types })
  if (wrong) return [segmentProblem(segment, { index, ...wrong })]
  const compiled = compileExpression(segment.when, slots.before)
  const reads = 'reads' in compiled ? compiled.reads : []
  const message = dependsOnAmount(document, reads, slots)
  if (message !== undefined) {
    const instead = `${message.split(',')[0]}, so it cannot choose a segment; use request.product, or a rule under after_score`
    return [segmentProblem(segment, { index, offset: 0, message: instead })]
  }
  const payments = paymentsIn(document, reads, slots)
  return payments === undefined ? [] : [segmentProblem(segment, { index, offset: 0, message: payments })]
}

/** The tests of a policy write `none` for the document itself. */
function nameProblems({ name }: PolicySegment, index: number): PolicyProblem[] {
  if (name !== 'none') return []
  return [{ path: ['segments', index, 'name'], message: "'none' stands for no segment in tests; choose another name" }]
}

function emptyProblems(segment: PolicySegment, index: number): PolicyProblem[] {
  const parts = [...SEGMENT_PARTS, ...SEGMENT_ADDITIONS]
  if (parts.some((part) => segment[part] !== undefined)) return []
  const message = `segment '${segment.name}' changes nothing; give it one of ${parts.join(', ')}`
  return [{ path: ['segments', index], message }]
}

function productProblems({ products }: PolicyDocument, segment: PolicySegment, index: number): PolicyProblem[] {
  if (segment.products === undefined) return []
  const own = new Set(segment.products.map(({ product }) => product))
  const lacking = products.map(({ product }) => product).filter((product) => !own.has(product))
  const extra = [...own].filter((product) => !products.some((one) => one.product === product))
  const kinds = new Map(products.map((product) => [product.product, kindOf(product)]))
  const path = ['segments', index, 'products']
  return [
    ...lacking.map((product) => ({ path, message: `product '${product}' of the document is not listed; add it` })),
    ...extra.map((product) => ({
      path,
      message: `product '${product}' is not in the document; add it to products there`,
    })),
    ...segment.products.flatMap((one, at) => {
      const kind = kinds.get(one.product)
      // Whether a request needs an amount is settled before its segment is known.
      if (kind === undefined || kind === kindOf(one)) return []
      const message = `product '${one.product}' is ${kind} in the document; write 'kind: ${kind}' here too`
      return [{ path: [...path, at], message }]
    }),
  ]
}
