import { type CompiledPolicy, ruleIdsOf, type TableRow } from '../policy/compile/compiled-policy.ts'
import { type BacktestLimits, MATURITY_DAYS_DEFAULT } from '../policy/portfolio-settings.ts'
import { VERDICTS } from '../vocabularies.ts'
import type { ChangedCase, RuleMatches, VerdictMatrix } from './backtest-result.ts'
import { addEntities, type Ends, type EntityCounts, noEntities } from './bad-share.ts'
import { addMonitored, type MonitoredCounts, noMonitored } from './monitored-groups.ts'
import type { RiskGroup } from './portfolio-risk.ts'

/** The most changed cases of each kind that a result lists. */
export const CHANGED_CASES_MAX = 200

/** How a decision changes. */
export type Change = 'newly_approved' | 'no_longer_approved' | 'other'

/** The approvals of one side. */
export interface SideCounts {
  approved: number
  amount: number
  expected_loss: number
  /** Approved credits with an amount and a probability. */
  loss_known: number
  loss_unknown: number
}

/** How many decisions change in one way. */
export interface ChangeCounts extends Ends {
  count: number
  /** Those with a known outcome, by entity. */
  entities: EntityCounts
  /** The newest of them. */
  cases: ChangedCase[]
}

/** Cases with one score, and so with one probability unless it is external. */
export interface RiskCell extends RiskGroup {
  /** The segment whose own scorecard it is, `''` for that of the document; null if the probability is external. */
  card: string | null
  score: number
}

/** Cases that are approved: by both sides, or by one of them. */
export interface GroupCounts extends Ends {
  approved: number
  /** Those that are old enough; `known` and `bad` are of these. */
  mature: number
  /** Credit of which no probability is known, where `cells` counts all with one. */
  unknown: number
  /** Those that count in `cells`, or for a newly approved case would, by entity. */
  entities: EntityCounts
  /** Those with a probability and a known outcome; of the newly approved all with a probability. By scorecard and score. */
  cells: Map<string, RiskCell>
}

/** A scorecard's table of probabilities by score, with the calibration points in it. */
export interface CardTable {
  card: string
  rows: readonly TableRow[]
  points: number
}

/** What a backtest reads of its policy, besides deciding. */
export interface BacktestSettings {
  /** The reference currency of the policy; null if none of its currencies is. */
  currency: string | null
  maturityDays: number
  lossGivenDefaultPpm: number
  limits: BacktestLimits
  tables: readonly CardTable[]
}

/**
 * What a policy decides on some recorded decisions, as plain data: threads count pages, which are added up in the order of
 * the pages. So the sums are the same to the last digit, however many threads there are.
 */
export interface BacktestCounts {
  settings: BacktestSettings
  decided: number
  unreadable: number
  by_people: number
  first_at: string | null
  last_at: string | null
  matrix: VerdictMatrix
  before: SideCounts
  after: SideCounts
  kept: GroupCounts
  newly_approved: GroupCounts
  no_longer_approved: GroupCounts
  /** The entities of the kept and of the no longer approved together. */
  observed: EntityCounts
  changes: Record<Change, ChangeCounts>
  rules: RuleMatches[]
  monitored: MonitoredCounts[]
}

/** Counts of no decisions. */
export function noCounts(policy: CompiledPolicy): BacktestCounts {
  const noSide = (): SideCounts => ({ approved: 0, amount: 0, expected_loss: 0, loss_known: 0, loss_unknown: 0 })
  const noChange = (): ChangeCounts => ({ count: 0, cases: [], known: 0, bad: 0, entities: noEntities() })
  const noGroup = (): GroupCounts => ({
    approved: 0,
    mature: 0,
    known: 0,
    bad: 0,
    unknown: 0,
    entities: noEntities(),
    cells: new Map(),
  })
  const noVerdicts = () => Object.fromEntries(VERDICTS.map((after) => [after, 0]))
  return {
    settings: settingsOf(policy),
    decided: 0,
    unreadable: 0,
    by_people: 0,
    first_at: null,
    last_at: null,
    matrix: Object.fromEntries(VERDICTS.map((before) => [before, noVerdicts()])) as VerdictMatrix,
    before: noSide(),
    after: noSide(),
    kept: noGroup(),
    newly_approved: noGroup(),
    no_longer_approved: noGroup(),
    observed: noEntities(),
    changes: { newly_approved: noChange(), no_longer_approved: noChange(), other: noChange() },
    rules: ruleIdsOf(policy).map((rule) => ({ rule, matched: 0, known: 0, bad: 0 })),
    monitored: noMonitored(policy.document),
  }
}

function settingsOf({
  document,
  probability,
  segments,
}: Pick<CompiledPolicy, 'document' | 'probability' | 'segments'>): BacktestSettings {
  const { portfolio = {}, limit, scorecard } = document
  const { maturity_days, loss_given_default_ppm, backtest_limits } = portfolio
  const own = { card: '', rows: probability, points: scorecard.calibration_points ?? 0 }
  const ofSegments = segments.map(({ name, policy }) => ({
    card: cardOf(document, name),
    rows: policy.probability,
    points: policy.document.scorecard.calibration_points ?? 0,
  }))
  return {
    currency: limit.currencies.find(({ per_reference }) => per_reference === 1)?.currency ?? null,
    maturityDays: maturity_days ?? MATURITY_DAYS_DEFAULT,
    lossGivenDefaultPpm: loss_given_default_ppm ?? 1_000_000,
    limits: backtest_limits ?? {},
    tables: [own, ...ofSegments.filter(({ card }) => card !== '')].flatMap(({ rows, ...table }) =>
      rows === null ? [] : [{ ...table, rows }],
    ),
  }
}

/** Which scorecard scores the applicants of a segment: the segment's name, or `''` if that of the document does. */
export function cardOf({ segments = [] }: CompiledPolicy['document'], segment: string | null): string {
  return segments.some(({ name, scorecard }) => name === segment && scorecard !== undefined) ? segment! : ''
}

/** Adds the counts of older decisions under the same policy. */
export function addOlder(counts: BacktestCounts, older: BacktestCounts): void {
  counts.decided += older.decided
  counts.unreadable += older.unreadable
  counts.by_people += older.by_people
  if (older.first_at !== null) countTimes(counts, older.first_at, older.last_at!)
  for (const before of VERDICTS)
    for (const after of VERDICTS) counts.matrix[before][after] += older.matrix[before][after]
  addSide(counts.before, older.before)
  addSide(counts.after, older.after)
  for (const group of ['kept', 'newly_approved', 'no_longer_approved'] as const) addGroup(counts[group], older[group])
  addEntities(counts.observed, older.observed)
  addChange(counts.changes.newly_approved, older.changes.newly_approved)
  addChange(counts.changes.no_longer_approved, older.changes.no_longer_approved)
  addChange(counts.changes.other, older.changes.other)
  addMonitored(counts.monitored, older.monitored)
  for (const [index, rule] of counts.rules.entries()) {
    rule.matched += older.rules[index]!.matched
    addEnds(rule, older.rules[index]!)
  }
}

/** Counts decisions that were made from `first` to `last`. */
export function countTimes(counts: BacktestCounts, first: string, last: string): void {
  if (counts.first_at === null || first < counts.first_at) counts.first_at = first
  if (counts.last_at === null || last > counts.last_at) counts.last_at = last
}

/** Adds cases of one scorecard and score. */
export function addCell(cells: GroupCounts['cells'], added: RiskCell): void {
  const key = `${added.card === null ? '-' : `+${added.card}`} ${added.score}`
  const cell = cells.get(key)
  if (cell === undefined) {
    cells.set(key, { ...added })
    return
  }
  cell.cases += added.cases
  cell.expectedPpm += added.expectedPpm
  cell.bad += added.bad
}

function addSide(side: SideCounts, older: SideCounts): void {
  side.approved += older.approved
  side.amount += older.amount
  side.expected_loss += older.expected_loss
  side.loss_known += older.loss_known
  side.loss_unknown += older.loss_unknown
}

function addGroup(group: GroupCounts, older: GroupCounts): void {
  group.approved += older.approved
  group.mature += older.mature
  group.unknown += older.unknown
  addEnds(group, older)
  addEntities(group.entities, older.entities)
  for (const cell of older.cells.values()) addCell(group.cells, cell)
}

function addChange(change: ChangeCounts, older: ChangeCounts): void {
  change.count += older.count
  change.cases.push(...older.cases.slice(0, CHANGED_CASES_MAX - change.cases.length))
  addEnds(change, older)
  addEntities(change.entities, older.entities)
}

function addEnds(ends: Ends, older: Ends): void {
  ends.known += older.known
  ends.bad += older.bad
}
