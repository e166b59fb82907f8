import type { PolicyDocument, PolicySegment } from '../policy-document.ts'
import { SEGMENT_PARTS, type SegmentPart, segmentDocument } from '../segment-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** The problem of the condition of a segment, with its column. */
export function segmentProblem(
  { name }: PolicySegment,
  { index, offset, message }: { index: number; offset: number; message: string },
): PolicyProblem {
  return { path: ['segments', index, 'when'], offset, message: `segment '${name}', column ${offset + 1}: ${message}` }
}

/**
 * The problems that a check finds in the parts of segments. Each segment is checked as the whole document that decides on
 * its applicants; what it finds in the document's own parts was found there before, unless they do not fit the tiers of the
 * segment. A segment that has none of the parts that the check reads is not checked.
 */
export function inSegment(
  document: PolicyDocument,
  { check, reads }: { check: (document: PolicyDocument) => readonly PolicyProblem[]; reads: readonly SegmentPart[] },
): PolicyProblem[] {
  let before: readonly PolicyProblem[] | undefined
  const documentProblems = () => (before ??= check(document))
  return (document.segments ?? []).flatMap((segment, index) => {
    const own = SEGMENT_PARTS.filter((part) => segment[part] !== undefined)
    if (!reads.some((part) => own.includes(part))) return []
    // What it adds is checked by itself.
    const { rules: _rules, after_score: _later, tables: _tables, ...replaced } = segment
    const found = check(segmentDocument(document, replaced))
    const isOwn = ({ path }: PolicyProblem) => own.some((part) => part === path[0])
    const inherited = segment.tiers === undefined ? [] : found.filter((problem) => !isOwn(problem))
    return [
      ...found.filter(isOwn).map((problem) => ({ ...problem, path: ['segments', index, ...problem.path] })),
      ...(inherited.length === 0 ? [] : unfitFor(inherited, documentProblems(), index)),
    ]
  })
}

/** The problems that parts of the document have only with the tiers of a segment. */
function unfitFor(found: readonly PolicyProblem[], before: readonly PolicyProblem[], index: number): PolicyProblem[] {
  const known = new Set(before.map(placeAndMessage))
  return found
    .filter((problem) => !known.has(placeAndMessage(problem)))
    .map((problem) => ({
      path: ['segments', index, 'tiers'],
      message: `with these tiers, ${placeAndMessage(problem)}`,
    }))
}

function placeAndMessage({ path, message }: PolicyProblem): string {
  return `/${path.join('/')}: ${message}`
}
