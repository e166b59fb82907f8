import type { Impact } from '../../vocabularies.ts'
import type { PolicyDocument, PolicyTable } from '../policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** A reason, and where it is written. */
export interface WrittenReason {
  path: (string | number)[]
  code: string
  label: string
  impact: Impact
}

/** Finds reasons that say nothing specific, and codes that stand for two different statements. */
export function checkLabels(document: PolicyDocument): PolicyProblem[] {
  const reasons = reasonsOf(document)
  return [...reasons.filter(({ impact }) => impact === 'negative').flatMap(vagueProblem), ...ambiguousCodes(reasons)]
}

/**
 * What the official interpretation of Regulation B (12 CFR 1002.9(b)(2)) calls insufficient: the creditor's own standards or
 * policies, or that the applicant failed to achieve a qualifying score.
 */
const VAGUE =
  /\b(insufficient|low|poor|bad|inadequate)( credit| risk)? score\b|\bqualifying score\b|\bscore (is )?(too low|below|insufficient)|\bfail(ed|s)? (to (meet|pass)|our) .{0,20}(criteria|standards?|scor|polic)|\b(internal|company|lending|credit|our) (polic(y|ies)|standards?|criteria|guidelines)\b|\bcredit scoring system\b/i

function vagueProblem({ path, label }: WrittenReason): PolicyProblem[] {
  const found = VAGUE.exec(label)
  if (!found) return []
  const message = `'${found[0]}' is no specific reason (12 CFR 1002.9(b)(2)); name what is wrong, such as "Income covers less than half of spending"`
  return [{ path: [...path, 'label'], message }]
}

function ambiguousCodes(reasons: readonly WrittenReason[]): PolicyProblem[] {
  const first = new Map<string, WrittenReason>()
  return reasons.flatMap((reason) => {
    const before = first.get(reason.code)
    if (before === undefined) {
      first.set(reason.code, reason)
      return []
    }
    const differing = before.label !== reason.label ? 'label' : before.impact !== reason.impact ? 'impact' : undefined
    if (differing === undefined) return []
    const message = `the code '${reason.code}' has another ${differing} at /${before.path.join('/')}; give it the same ${differing}, or another code`
    return [{ path: reason.path, message }]
  })
}

/** Every reason that a policy can give, in the order of the document. Conditions are another list, with codes of its own. */
export function reasonsOf(document: PolicyDocument): WrittenReason[] {
  const {
    missing_reasons,
    rules,
    after_score = [],
    tables = [],
    scorecard,
    limit,
    segments = [],
    meanings = [],
  } = document
  const { few_strengths, nothing_against } = document.reasons
  const negative = (path: (string | number)[], reason: { code: string; label: string }): WrittenReason => ({
    path,
    ...reason,
    impact: 'negative',
  })
  return [
    ...missing_reasons.map((reason, index) => negative(['missing_reasons', index], reason)),
    ...rules.map(({ reason }, index) => ({ path: ['rules', index, 'reason'], ...reason })),
    ...after_score.map(({ reason }, index) => ({ path: ['after_score', index, 'reason'], ...reason })),
    ...tables.flatMap((table, index) => rowReasons(table, ['tables', index])),
    ...scoreReasons(scorecard, ['scorecard']),
    ...limit.terms.map(({ reason }, index) => negative(['limit', 'terms', index, 'reason'], reason)),
    ...(['risk', 'unknown', 'unlisted_currency', 'over_maximum', 'under_minimum'] as const).flatMap((name) => {
      const reason = limit[name]
      return reason === undefined ? [] : [negative(['limit', name], reason)]
    }),
    ...(few_strengths ? [negative(['reasons', 'few_strengths'], few_strengths)] : []),
    ...(nothing_against
      ? [{ path: ['reasons', 'nothing_against'], ...nothing_against, impact: 'positive' as const }]
      : []),
    ...meanings.flatMap(({ instead = [] }, index) =>
      instead.map(({ code, label }, place) => negative(['meanings', index, 'instead', place], { code, label })),
    ),
    ...segments.flatMap(({ rules: own = [], after_score: later = [], tables: ofSegment = [] }, segment) => [
      ...own.map(({ reason }, index) => ({ path: ['segments', segment, 'rules', index, 'reason'], ...reason })),
      ...later.map(({ reason }, index) => ({ path: ['segments', segment, 'after_score', index, 'reason'], ...reason })),
      ...ofSegment.flatMap((table, index) => rowReasons(table, ['segments', segment, 'tables', index])),
    ]),
    ...segments.flatMap((segment, index) => [
      ...(segment.scorecard ? scoreReasons(segment.scorecard, ['segments', index, 'scorecard']) : []),
      ...(segment.limit?.terms ?? []).map(({ reason }, term) =>
        negative(['segments', index, 'limit', 'terms', term, 'reason'], reason),
      ),
    ]),
  ]
}

function rowReasons({ rows }: PolicyTable, path: (string | number)[]): WrittenReason[] {
  return rows.flatMap(({ reason }, row) =>
    reason === undefined ? [] : [{ path: [...path, 'rows', row, 'reason'], ...reason }],
  )
}

function scoreReasons({ characteristics }: PolicyDocument['scorecard'], path: (string | number)[]): WrittenReason[] {
  return characteristics.flatMap(({ shortfall, strength }, index): WrittenReason[] => {
    const at = [...path, 'characteristics', index]
    return [
      { path: [...at, 'shortfall'], ...shortfall, impact: 'negative' },
      { path: [...at, 'strength'], ...strength, impact: 'positive' },
    ]
  })
}
