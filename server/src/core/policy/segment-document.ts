import type { PolicyDocument, PolicySegment } from './policy-document.ts'

/** The parts of a policy that a segment can replace. */
export const SEGMENT_PARTS = ['scorecard', 'verdicts', 'tiers', 'limit', 'products'] as const

/** A part of a policy that a segment can replace. */
export type SegmentPart = (typeof SEGMENT_PARTS)[number]

/** The document as it decides on the applicants of a segment: the parts of the segment, and the document's own. */
export function segmentDocument(document: PolicyDocument, segment: PolicySegment): PolicyDocument {
  const { segments: _, ...rest } = document
  const { scorecard, verdicts, tiers, limit, products } = segment
  return {
    ...rest,
    scorecard: scorecard ?? document.scorecard,
    verdicts: { ...document.verdicts, ...verdicts },
    tiers: tiers ?? document.tiers,
    limit: { ...document.limit, ...limit },
    products: products ?? document.products,
  }
}
