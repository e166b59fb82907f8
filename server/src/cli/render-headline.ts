import type { BacktestResult, BadShare, Estimate, Headline } from '../core/backtest/backtest-result.ts'
import { renderTable } from './command.ts'
import { percent } from './percent.ts'

/** The headline of a backtest in lines of text: the bad rate of what a policy approves, its parts, and the limits. */
export function renderHeadline({ headline, limits }: Pick<BacktestResult, 'headline' | 'limits'>): string[] {
  const { kept, newly_approved, before, together, difference, maturity_days } = headline
  const { expected, by_table, without_probability } = newly_approved
  const left = without_probability > 0 ? `; ${without_probability} without a probability left out` : ''
  return [
    CHANGES[headline.change ?? 'unknown'],
    '',
    renderTable(
      ['BAD RATE', 'DECISIONS', 'RATE (95 % INTERVAL)'],
      [
        ['approved as decided, observed', '', badText(before)],
        ['approved under this policy', String(kept.approved + newly_approved.approved), estimateText(together)],
        ['  kept, observed', String(kept.approved), badText(kept.outcomes)],
        [
          '  newly approved, expected',
          String(newly_approved.approved),
          `${estimateText(expected)}${tableText(by_table)}${left}`,
        ],
        ['difference', '', estimateText(difference, 'points')],
      ],
    ),
    `Outcomes count once a decision is ${maturity_days} days old: ${kept.mature} of the ${kept.approved} kept are.`,
    ...limits.filter(({ is_kept }) => !is_kept).map(({ words }) => `LIMIT BROKEN: ${words}.`),
    ...(limits.length > 0 && limits.every(({ is_kept }) => is_kept) ? ['All limits of the policy are kept.'] : []),
  ]
}

const CHANGES: Readonly<Record<NonNullable<Headline['change']> | 'unknown', string>> = {
  worse: 'WORSE: more of what this policy approves would go bad.',
  better: 'BETTER: less of what this policy approves would go bad.',
  not_shown: 'NO DIFFERENCE SHOWN: the interval of the difference in bad rates holds zero.',
  unknown: 'NOT KNOWN: too few outcomes are known to compare bad rates.',
}

/** A share of bad ends in words. */
export function badText({ known, bad, ...estimate }: BadShare): string {
  return known === 0 ? 'no outcome known' : `${bad} of ${known}, ${estimateText(estimate)}`
}

function estimateText({ share, low, high }: Estimate, unit: 'percent' | 'points' = 'percent'): string {
  if (share === null || low === null || high === null) return 'not known'
  const write = unit === 'percent' ? (value: number) => percent(value, 1, 1) : points
  return `${write(share)} (${write(low)} to ${write(high)})`
}

function points(difference: number): string {
  const shown = (difference * 100).toFixed(1)
  return `${difference > 0 ? '+' : ''}${shown.replace('-', '−')} points`
}

function tableText(byTable: number | null): string {
  return byTable === null ? '' : `; ${percent(byTable, 1, 1)} by the probabilities alone`
}
