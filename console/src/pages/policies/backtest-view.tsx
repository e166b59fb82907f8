import { VERDICTS, type Verdict as VerdictName } from '../../../../server/src/core/vocabularies.ts'
import { Figure, Figures } from '../../components/figure.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { Verdict } from '../../components/verdict.tsx'
import { writeCount, writeMoney, writeRate } from '../../components/write-number.ts'
import { HeadlineView } from './headline-view.tsx'
import { Monitored } from './monitored-view.tsx'
import classes from './policies.module.css'
import type { BacktestResult } from './policy.ts'
import { Unmatched } from './unmatched-rules.tsx'

const CASES_SHOWN = 100

/** The result of a backtest: what would go bad, rates before and after, the verdict matrix, the swap sets and the changed cases. */
export function BacktestView({ result }: { result: BacktestResult }) {
  if (result.decided === 0)
    return (
      <Section title="Result">
        <p className="secondary">There are no recorded decisions of this period to decide again.</p>
      </Section>
    )
  return (
    <>
      <HeadlineView result={result} />
      <Rates result={result} />
      <Section
        title="Verdict migration"
        sub="rows as decided, columns under this policy; right of the diagonal is worse"
      >
        <Matrix result={result} />
      </Section>
      <SwapSets result={result} />
      <Unmatched rules={result.rules} decided={result.decided} />
      <Monitored result={result} />
      <ChangedCases result={result} />
    </>
  )
}

function Rates({ result }: { result: BacktestResult }) {
  const { before, after, changed, decided, currency } = result
  const lossOf = ({ expected_loss }: typeof after) => {
    if (expected_loss === null) return 'not known'
    const loss = Math.round(expected_loss)
    return currency === null ? writeCount(loss) : writeMoney(loss, currency)
  }
  const reviews = (side: 'before' | 'after') =>
    VERDICTS.reduce((sum, verdict) => {
      const count = side === 'before' ? result.matrix.manual_review[verdict] : result.matrix[verdict].manual_review
      return sum + count
    }, 0)
  const unknown = after.loss_unknown > 0 ? `; ${writeCount(after.loss_unknown)} not known` : ''
  return (
    <Figures>
      <Figure label="Approved" value={writeRate(after.rate)} below={`was ${writeRate(before.rate)}`} />
      <Figure label="Expected loss" value={lossOf(after)} below={`was ${lossOf(before)}${unknown}`} />
      <Figure
        label="Sent to review"
        value={writeCount(reviews('after'))}
        below={`was ${writeCount(reviews('before'))}`}
      />
      <Figure label="Verdicts changed" value={writeCount(changed)} below={`of ${writeCount(decided)}`} />
    </Figures>
  )
}

function Matrix({ result: { matrix } }: { result: BacktestResult }) {
  const sumOf = (after: VerdictName) => VERDICTS.reduce((sum, before) => sum + matrix[before][after], 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard
    <section className={classes.scroll} aria-label="Verdict migration" tabIndex={0}>
      <table className={classes.matrix}>
        <thead>
          <tr>
            <td data-move="sum" />
            {VERDICTS.map((verdict) => (
              <th key={verdict} scope="col">
                <Verdict verdict={verdict} />
              </th>
            ))}
            <th scope="col">As decided</th>
          </tr>
        </thead>
        <tbody>
          {VERDICTS.map((before, row) => (
            <tr key={before}>
              <th scope="row">
                <Verdict verdict={before} />
              </th>
              {VERDICTS.map((after, column) => (
                <td key={after} data-move={moveOf(matrix[before][after], column - row)}>
                  {matrix[before][after] === 0 ? '–' : writeCount(matrix[before][after])}
                </td>
              ))}
              <td data-move="sum">{writeCount(VERDICTS.reduce((sum, after) => sum + matrix[before][after], 0))}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">Under this policy</th>
            {VERDICTS.map((after) => (
              <td key={after} data-move="sum">
                {writeCount(sumOf(after))}
              </td>
            ))}
            <td data-move="sum" />
          </tr>
        </tbody>
      </table>
    </section>
  )
}

function moveOf(count: number, steps: number): 'same' | 'worse' | 'better' | undefined {
  if (steps === 0) return 'same'
  if (count === 0) return undefined
  return steps > 0 ? 'worse' : 'better'
}

function SwapSets({ result: { newly_approved, no_longer_approved } }: { result: BacktestResult }) {
  const ends = ({ known, bad }: BacktestResult['newly_approved']['outcomes']) =>
    known === 0 ? 'no outcome known' : `${writeCount(bad)} of ${writeCount(known)} with a known outcome ended badly`
  return (
    <Section
      title="Swap sets"
      footer="Outcomes exist only where credit was given, so the figure of newly approved cases is thin."
    >
      <div className={classes.swaps}>
        <div>
          <b>{writeCount(no_longer_approved.count)}</b>
          <span className="strong">Swapped out</span>
          <div className="small dim">approved then, not any more</div>
          <div className="small">{ends(no_longer_approved.outcomes)}</div>
        </div>
        <div>
          <b>{writeCount(newly_approved.count)}</b>
          <span className="strong">Swapped in</span>
          <div className="small dim">not approved then, approved now</div>
          <div className="small">{ends(newly_approved.outcomes)}</div>
        </div>
      </div>
    </Section>
  )
}

function ChangedCases({ result: { changed, changed_cases } }: { result: BacktestResult }) {
  if (changed_cases.length === 0) return null
  const shown = changed_cases.slice(0, CASES_SHOWN)
  return (
    <Section title="Changed decisions" sub={`the newest ${writeCount(shown.length)} of ${writeCount(changed)}`} flush>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard */}
      <section className={classes.scroll} aria-label="Changed decisions" tabIndex={0}>
        <table className={classes.plain}>
          <thead>
            <tr>
              <th scope="col">Decision</th>
              <th scope="col">As decided</th>
              <th scope="col">Under this policy</th>
              <th scope="col">Outcome</th>
              <th scope="col">Decided</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ decision_id, before, after, outcome, decided_at }) => (
              <tr key={decision_id}>
                <td>
                  <PageLink to={`decisions/${decision_id}`} className="mono">
                    {decision_id}
                  </PageLink>
                </td>
                <td>
                  <Verdict verdict={before} />
                </td>
                <td>
                  <Verdict verdict={after} />
                </td>
                <td>{outcome?.replaceAll('_', ' ') ?? '–'}</td>
                <td className="nowrap">
                  <Time at={decided_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Section>
  )
}
