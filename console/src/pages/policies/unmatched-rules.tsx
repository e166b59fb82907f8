import { usePermission } from '../../api/use-me.ts'
import { useOperation } from '../../api/use-operation.ts'
import { Section } from '../../components/section.tsx'
import { writeCount } from '../../components/write-number.ts'
import type { BacktestResult } from './policy.ts'

type Counted = Pick<BacktestResult, 'rules' | 'decided'>

/** In one sentence, which rules and rows of tables hold for none of some decisions. */
export function unmatchedWords({ rules, decided }: Counted): string {
  const names = unmatchedIn(rules)
  const which = names.length === 0 ? 'none' : names.join(', ')
  return `Matched 0 of the last ${writeCount(decided)}: ${which}.`
}

function unmatchedIn(rules: BacktestResult['rules']): string[] {
  return rules.filter(({ matched }) => matched === 0).map(({ rule }) => rule)
}

/** The decisions on which a version without a backtest is tried. */
const TRIED = 1_000

/** The same for a version: by its newest backtest, and without one on the newest decisions. */
export function UnmatchedOf({ source, backtest }: { source: string; backtest: Counted | undefined }) {
  const mayTry = usePermission('backtest policies')
  const isTried = backtest === undefined && mayTry
  const { data: tried } = useOperation('policy-backtests.try', { source, last: TRIED }, { enabled: isTried })
  const counted = backtest ?? tried
  return counted ? <Unmatched {...counted} /> : null
}

/** The rules and rows of tables that hold for none of some decisions: they may be dead, or wait for a rare case. */
export function Unmatched({ rules, decided }: Counted) {
  const unmatched = unmatchedIn(rules)
  if (decided === 0 || rules.length === 0) return null
  return (
    <Section
      title={`Matched 0 of the last ${writeCount(decided)}`}
      sub="rules and rows of tables that held for no decision"
    >
      {unmatched.length === 0 ? (
        <p className="secondary">Each rule and each row held at least once.</p>
      ) : (
        <ul>
          {unmatched.map((rule) => (
            <li key={rule}>
              <code>{rule}</code>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
