import type { PolicyDocument, PolicySegment, PolicyTable } from '../policy-document.ts'
import { SEGMENT_ADDITIONS, type SegmentPart, segmentAdditions, segmentDocument } from '../segment-document.ts'
import { checkComparisons } from './check-comparisons.ts'
import { checkCost } from './check-cost.ts'
import { checkDerived } from './check-derived.ts'
import { checkInputs, checkMissingReasons } from './check-inputs.ts'
import { checkLabels } from './check-labels.ts'
import { checkLimit, checkOffersCounted, checkUnlistedCurrency } from './check-limit.ts'
import { checkMeanings } from './check-meanings.ts'
import { checkProducts } from './check-products.ts'
import { checkReachable } from './check-reachable.ts'
import { checkCaps, checkRules } from './check-rules.ts'
import { checkRunnable } from './check-runnable.ts'
import { checkScorecard } from './check-scorecard.ts'
import { checkSegments } from './check-segments.ts'
import { checkSubjects } from './check-subjects.ts'
import { checkTables } from './check-tables.ts'
import { checkTests } from './check-tests.ts'
import { checkUnscored } from './check-unscored.ts'
import type { PolicyProblem } from './policy-problem.ts'
import { inSegment } from './segment-problem.ts'

type Check = (document: PolicyDocument) => PolicyProblem[]

/** Finds what a schema cannot check: undefined names, overlapping ranges, tables out of order. */
export function checkPolicy(document: PolicyDocument): PolicyProblem[] {
  return [
    ...CHECKS.flatMap((check) => check(document)),
    ...PARTS.flatMap((part) => [...part.check(document), ...inSegment(document, part)]),
    ...checkReferences(document),
    ...(document.segments ?? []).flatMap((segment, index) =>
      inAdditions(document, segment).map((problem) => ({ ...problem, path: ['segments', index, ...problem.path] })),
    ),
  ]
}

/** The problems of the rules and tables that a segment adds. */
function inAdditions(document: PolicyDocument, segment: PolicySegment): PolicyProblem[] {
  if (SEGMENT_ADDITIONS.every((part) => segment[part] === undefined)) return []
  const added = segmentAdditions(document, segment)
  return [checkRules, checkCaps, checkTables].flatMap((check) => check(added))
}

/** Checks of the document as a whole. */
const CHECKS: readonly Check[] = [
  checkInputs,
  checkSubjects,
  checkMissingReasons,
  checkDerived,
  checkSegments,
  checkRules,
  checkRunnable,
  checkUnscored,
  checkReachable,
  checkLabels,
  checkUniqueness,
  checkUnlistedCurrency,
  checkOffersCounted,
  checkTests,
  checkCost,
  checkComparisons,
  checkMeanings,
]

/** Checks of the parts that a segment can replace, and of what reads them, each with the parts that it reads. */
const PARTS: readonly { check: Check; reads: readonly SegmentPart[] }[] = [
  { check: checkLimit, reads: ['limit', 'tiers'] },
  { check: checkCaps, reads: ['tiers'] },
  { check: checkTables, reads: ['tiers'] },
  { check: checkScorecard, reads: ['scorecard'] },
  { check: checkTiers, reads: ['tiers'] },
  { check: checkProducts, reads: ['products', 'tiers', 'limit'] },
  { check: checkUniqueParts, reads: ['scorecard', 'tiers', 'products', 'limit'] },
]

/**
 * If base and references reach the cutoff, every score below it has a shortfall to give as its reason. A cutoff above them
 * is a consequence to know, not an error: the references follow once applicants just above the new cutoff are known.
 */
function checkReferences(document: PolicyDocument): PolicyProblem[] {
  const ofSegments = (document.segments ?? []).flatMap((segment, index): PolicyProblem[] => {
    if (segment.scorecard === undefined && segment.verdicts?.cutoff === undefined) return []
    const problem = referenceProblem(segmentDocument(document, segment))
    return problem === undefined ? [] : [{ path: ['segments', index], message: problem, isWarning: true }]
  })
  const own = referenceProblem(document)
  return own === undefined
    ? ofSegments
    : [{ path: ['verdicts', 'cutoff'], message: own, isWarning: true }, ...ofSegments]
}

function referenceProblem({ scorecard, verdicts }: PolicyDocument): string | undefined {
  const sum = scorecard.characteristics.reduce((all, { reference }) => all + reference, scorecard.base)
  if (sum >= verdicts.cutoff) return undefined
  return `base and references add up to ${sum}, below the cutoff of ${verdicts.cutoff}: a score in between is declined although no characteristic falls short of its reference, and the reasons are then those furthest from their best. Set the references to the points of applicants just above the new cutoff`
}

function checkTiers({ tiers }: PolicyDocument): PolicyProblem[] {
  const bounds = tiers.slice(0, -1).map(({ from }) => from)
  const isDescending = bounds.every((from, index) => from !== undefined && from < (bounds[index - 1] ?? Infinity))
  if (isDescending) return []
  return [{ path: ['tiers'], message: "every tier but the last needs a 'from', each lower than the one before" }]
}

function checkUniqueness(document: PolicyDocument): PolicyProblem[] {
  const { missing_reasons, inputs, derived = [], segments = [], tables = [], limit, meanings = [], tests } = document
  return [
    ...duplicates(['missing_reasons'], missing_reasons, ({ code }) => code),
    ...duplicates(['inputs'], inputs, ({ feature }) => feature),
    ...duplicates(['derived'], derived, ({ feature }) => feature),
    ...duplicates(['segments'], segments, ({ name }) => name),
    ...repeatedRules(document),
    ...namesWithin(tables, ['tables']),
    ...segments.flatMap((segment, index) => namesWithin(segment.tables ?? [], ['segments', index, 'tables'])),
    ...duplicates(['limit', 'currencies'], limit.currencies, ({ currency }) => currency),
    ...duplicates(['meanings'], meanings, ({ code }) => code),
    ...duplicates(['tests'], tests, ({ name }) => name),
  ]
}

/** Rules and tables are named in traces, whichever list or segment they are in. */
function repeatedRules({ rules, after_score = [], tables = [], segments = [] }: PolicyDocument): PolicyProblem[] {
  const seen = new Set<string>()
  const parts = [
    { path: [] as (string | number)[], rules, after_score, tables },
    ...segments.map(({ rules: own = [], after_score: later = [], tables: ofSegment = [] }, index) => ({
      path: ['segments', index],
      rules: own,
      after_score: later,
      tables: ofSegment,
    })),
  ]
  const named = parts.flatMap(({ path, ...part }) => [
    ...part.rules.map(({ id }, index) => ({ name: id, path: [...path, 'rules', index] })),
    ...part.after_score.map(({ id }, index) => ({ name: id, path: [...path, 'after_score', index] })),
    ...part.tables.map(({ table }, index) => ({ name: table, path: [...path, 'tables', index] })),
  ])
  return named.flatMap(({ name, path }) =>
    seen.size === seen.add(name).size ? [{ path, message: `'${name}' is there twice; rename one` }] : [],
  )
}

function namesWithin(tables: readonly PolicyTable[], path: (string | number)[]): PolicyProblem[] {
  return tables.flatMap(({ columns, rows }, index) => [
    ...duplicates([...path, index, 'columns'], columns, ({ column }) => column),
    ...duplicates([...path, index, 'rows'], rows, ({ row }) => row),
  ])
}

function checkUniqueParts({ scorecard, tiers, products, limit }: PolicyDocument): PolicyProblem[] {
  return [
    ...duplicates(['scorecard', 'characteristics'], scorecard.characteristics, ({ id }) => id),
    ...duplicates(['tiers'], tiers, ({ tier }) => tier),
    ...duplicates(['products'], products, ({ product }) => product),
    ...duplicates(['limit', 'terms'], limit.terms, ({ term }) => term),
  ]
}

function duplicates<Entry>(
  path: (string | number)[],
  entries: readonly Entry[],
  nameOf: (entry: Entry) => string,
): PolicyProblem[] {
  const seen = new Set<string>()
  return entries
    .map(nameOf)
    .flatMap((name, index) =>
      seen.size === seen.add(name).size
        ? [{ path: [...path, index], message: `'${name}' is there twice; rename one` }]
        : [],
    )
}
