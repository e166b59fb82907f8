import { backtestDraft, beginBacktest, type KeptBacktest } from '../admin/backtest-policy.ts'
import { invalid } from '../admin/problem.ts'
import { BACKTEST_DECISIONS_MAX, type BacktestRange } from '../admin/run-backtest.ts'
import type { Approvals, BacktestResult, SwapSet } from '../core/backtest/backtest-result.ts'
import { VERDICTS } from '../core/vocabularies.ts'
import { defineCommand, type OnProgress, renderTable } from './command.ts'
import { percent } from './percent.ts'
import { readSourceOrVersion } from './policy-files.ts'
import { badText, renderHeadline } from './render-headline.ts'
import { commandAct, readTarget, TARGET_USAGE, targetOptions } from './shared-options.ts'

const LAST = 10_000
/** As many changed cases as fit on a screen; `--json` prints those that the result has. */
const CASES_SHOWN = 20

type ShownBacktest = BacktestResult & Partial<Pick<KeptBacktest, 'id' | 'version' | 'checksum'>>

export const policyBacktest = defineCommand<ShownBacktest>({
  name: 'policy backtest',
  summary: 'Decide recorded decisions again under a policy, which is a file or a version, and compare the verdicts',
  usage: `policy backtest <policy> [--last <number>] [--from <time>] [--to <time>] ${TARGET_USAGE}`,
  arguments: ['policy'],
  options: {
    last: { type: 'string', description: `how many of the newest decisions, at most ${BACKTEST_DECISIONS_MAX}` },
    from: { type: 'string', description: 'only decisions from this time on, ISO 8601' },
    to: { type: 'string', description: 'only decisions before this time, ISO 8601' },
    ...targetOptions,
  },
  prepare: (input) => ({
    ...input,
    options: { ...input.options, source: readSourceOrVersion(input.positionals[0]!) },
  }),
  async run(installation, input, onLine = () => {}) {
    const { options, positionals } = input
    const act = commandAct(input, await readTarget(installation, options))
    const range = readRange(options)
    const onProgress = progressLine(onLine)
    if (options.source !== undefined)
      return backtestDraft(installation, act, { source: String(options.source), range, onProgress })
    const { done } = await beginBacktest(installation, act, { version: positionals[0]!, range, onProgress })
    return done
  },
  render: renderBacktest,
})

function readRange({ last, from, to }: Record<string, string | boolean | undefined>): BacktestRange {
  const timeOf = (text: string | boolean | undefined) => (text === undefined ? undefined : Date.parse(String(text)))
  const range = { last: last === undefined ? LAST : Number(last), fromMs: timeOf(from), toMs: timeOf(to) }
  if (Number.isNaN(range.fromMs) || Number.isNaN(range.toMs))
    throw invalid(
      'time_invalid',
      '--from and --to must be times in ISO 8601, such as 2026-11-01 or 2026-11-01T09:30:00Z.',
    )
  return range
}

/** Reports at most every two seconds, and nothing about a backtest that takes less. */
function progressLine(onLine: OnProgress): (progress: { decided: number; total: number }) => void {
  const everyMs = 2_000
  let nextAtMs = performance.now() + everyMs
  return ({ decided, total }) => {
    if (performance.now() < nextAtMs) return
    nextAtMs = performance.now() + everyMs
    onLine(`decided ${decided} of ${total}`)
  }
}

function renderBacktest(result: ShownBacktest): string {
  const { decided, unreadable, changed, by_people, first_at, last_at, changed_cases } = result
  if (decided === 0) return 'There are no recorded decisions to decide again.'
  const cases = changed_cases.slice(0, CASES_SHOWN)
  return [
    ...renderHeadline(result),
    '',
    `Decisions decided again: ${decided}, made from ${first_at} to ${last_at}. With another verdict: ${changed}.`,
    ...(unreadable > 0 ? [`The facts of ${unreadable} more cannot be read.`] : []),
    ...(by_people > 0
      ? [`A person has looked at ${by_people}; their verdicts stand where a person would look again.`]
      : []),
    '',
    renderMatrix(result),
    '',
    renderSides(result),
    '',
    swapText('Newly approved', result.newly_approved),
    swapText('No longer approved', result.no_longer_approved),
    ...renderUnmatched(result),
    ...result.monitored.flatMap(renderMonitored),
    ...(cases.length > 0 ? ['', renderCases(cases)] : []),
    ...(changed > cases.length ? [`and ${changed - cases.length} more; the console lists them`] : []),
    ...(result.id ? ['', `Kept as ${result.id}.`] : []),
  ].join('\n')
}

function renderSides({ before, after, currency, loss_given_default_ppm }: BacktestResult): string {
  const loss = `expected loss, ${percent(loss_given_default_ppm / 1_000_000, 1)} of what goes bad`
  return renderTable(
    ['', 'BEFORE', 'AFTER'],
    [
      ['approved', approvedText(before), approvedText(after)],
      ['approved amount', amountText(before.amount, currency), amountText(after.amount, currency)],
      [loss, lossText(before, currency), lossText(after, currency)],
    ],
  )
}

function renderMatrix({ matrix }: BacktestResult): string {
  const rows = VERDICTS.map((before) => [before, ...VERDICTS.map((after) => String(matrix[before][after]))])
  return renderTable(['DECIDED ↓  PROPOSED →', ...VERDICTS], rows)
}

/** The rules and rows of tables that hold for none of the decisions. */
function renderUnmatched({ rules, decided }: BacktestResult): string[] {
  const unmatched = rules.filter(({ matched }) => matched === 0).map(({ rule }) => rule)
  if (rules.length === 0) return []
  const which = unmatched.length === 0 ? 'none' : unmatched.join(', ')
  return ['', `Rules and rows of tables that matched 0 of the last ${decided}: ${which}.`]
}

function renderMonitored({ feature, describes, groups }: BacktestResult['monitored'][number]): string[] {
  const rows = groups.map(({ value, decided, approved_before, approved_after }) => [
    value ?? 'not known',
    String(decided),
    percent(approved_before / decided, 1, 1),
    percent(approved_after / decided, 1, 1),
  ])
  return ['', renderTable([`${feature} (${describes})`, 'DECIDED', 'APPROVED BEFORE', 'AFTER'], rows)]
}

function renderCases(cases: BacktestResult['changed_cases']): string {
  return renderTable(
    ['DECISION', 'BEFORE', 'AFTER', 'OUTCOME'],
    cases.map(({ decision_id, before, after, outcome }) => [decision_id, before, after, outcome ?? '']),
  )
}

function approvedText({ approved, rate }: Approvals): string {
  return `${approved} (${percent(rate, 1, 1)})`
}

function swapText(name: string, { count, outcomes }: SwapSet): string {
  return `${name}: ${count}. Bad among those with a known outcome: ${badText(outcomes)}.`
}

function lossText({ expected_loss, loss_unknown }: Approvals, currency: string | null): string {
  const without = loss_unknown > 0 ? `; ${loss_unknown} without a probability or rate` : ''
  return `${expected_loss === null ? 'not known' : amountText(expected_loss, currency)}${without}`
}

function amountText(amount: number, currency: string | null): string {
  return [Math.round(amount), ...(currency === null ? [] : [currency])].join(' ')
}
