import { kindOf } from '../compile/compile-products.ts'
import { paymentsIn } from '../compile/payment-features.ts'
import { type PolicySlots, policySlots } from '../compile/policy-slots.ts'
import { checkExpression } from '../expression/check-expression.ts'
import { compileExpression } from '../expression/compile-expression.ts'
import type { PolicyDocument, PolicyProduct, PolicySegment } from '../policy-document.ts'
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

/** What a segment may not say otherwise of a product: whether a request is decided is settled before its segment is known. */
function differenceOf(known: PolicyProduct, own: PolicyProduct): string | undefined {
  const kind = kindOf(known)
  if (kind !== kindOf(own))
    return `product '${known.product}' is ${kind} in the document; write 'kind: ${kind}' here too`
  const isChosen = known.term_choices !== undefined || own.term_choices !== undefined
  if (!isChosen || termsOf(known) === termsOf(own)) return undefined
  if (known.term_choices === undefined)
    return `product '${known.product}' has no term_choices in the document; add them there, or remove them here`
  return `product '${known.product}' lets the applicant choose among ${termsOf(known)} months in the document; write term_months and term_choices so that they are the same here`
}

/** All terms that an applicant may ask for. */
function termsOf({ term_months = 0, term_choices = [] }: PolicyProduct): string {
  return [term_months, ...term_choices].sort((a, b) => a - b).join(', ')
}

function productProblems({ products }: PolicyDocument, segment: PolicySegment, index: number): PolicyProblem[] {
  if (segment.products === undefined) return []
  const own = new Set(segment.products.map(({ product }) => product))
  const lacking = products.map(({ product }) => product).filter((product) => !own.has(product))
  const extra = [...own].filter((product) => !products.some((one) => one.product === product))
  const listed = new Map(products.map((product) => [product.product, product]))
  const path = ['segments', index, 'products']
  return [
    ...lacking.map((product) => ({ path, message: `product '${product}' of the document is not listed; add it` })),
    ...extra.map((product) => ({
      path,
      message: `product '${product}' is not in the document; add it to products there`,
    })),
    ...segment.products.flatMap((one, at) => {
      const known = listed.get(one.product)
      const message = known && differenceOf(known, one)
      return message === undefined ? [] : [{ path: [...path, at], message }]
    }),
  ]
}
