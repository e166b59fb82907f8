import type { PolicyDocument, PolicySegment } from './policy-document.ts'

/** The parts of a policy that a segment can replace. */
export const SEGMENT_PARTS = ['scorecard', 'verdicts', 'tiers', 'limit', 'products'] as const

/** The parts of a policy that a segment can add to. */
export const SEGMENT_ADDITIONS = ['rules', 'after_score', 'tables'] as const

/** A part of a policy that a segment can replace. */
export type SegmentPart = (typeof SEGMENT_PARTS)[number]

/**
 * The document as it decides on the applicants of a segment: the parts of the segment, and the document's own; of rules and
 * tables both.
 */
export function segmentDocument(document: PolicyDocument, segment: PolicySegment): PolicyDocument {
  const { segments: _, ...rest } = document
  const { scorecard, verdicts, tiers, limit, products, rules = [], after_score = [], tables = [] } = segment
  return {
    ...rest,
    rules: [...document.rules, ...rules],
    after_score: [...(document.after_score ?? []), ...after_score],
    tables: [...(document.tables ?? []), ...tables],
    scorecard: scorecard ?? document.scorecard,
    verdicts: { ...document.verdicts, ...verdicts },
    tiers: tiers ?? document.tiers,
    limit: { ...document.limit, ...limit },
    products: products ?? document.products,
  }
}

/** The same with the rules and tables of the segment alone, for checks that have seen those of the document. */
export function segmentAdditions(document: PolicyDocument, segment: PolicySegment): PolicyDocument {
  const { rules = [], after_score = [], tables = [] } = segment
  return { ...segmentDocument(document, segment), rules, after_score, tables }
}
