import {
  IconCircleCheck,
  IconCircleX,
  IconEqual,
  IconHelpCircle,
  IconTrendingDown,
  IconTrendingUp,
} from '@tabler/icons-react'
import { Section } from '../../components/section.tsx'
import { writeCount, writeRate } from '../../components/write-number.ts'
import classes from './policies.module.css'
import type { BacktestResult } from './policy.ts'
import {
  RateInterval,
  type ShownEstimate,
  scaleFor,
  writeEstimate,
  writeInterval,
  writePoints,
  writeScaleEnd,
} from './rate-interval.tsx'

type Headline = BacktestResult['headline']

/** The headline of a backtest: whether more of what this policy approves would go bad, from what this is known, and the limits. */
export function HeadlineView({ result: { headline, limits } }: { result: BacktestResult }) {
  const { kept, maturity_days, newly_approved } = headline
  const left = newly_approved.without_probability
  return (
    <Section
      title="What would go bad"
      sub="bad rates with 95 % intervals by entity"
      footer={
        <>
          Outcomes count once a decision is {writeCount(maturity_days)} days old: {writeCount(kept.mature)} of the{' '}
          {writeCount(kept.approved)} kept are, and {writeCount(kept.outcomes.known)} of these ended or are under way.
          {left > 0 && ` ${writeCount(left)} newly approved have no probability and are left out.`}
        </>
      }
    >
      <p className={classes.headline} data-change={headline.change ?? 'unknown'}>
        <ChangeIcon change={headline.change} />
        <span>{sentenceOf(headline)}</span>
      </p>
      <Rates headline={headline} />
      {limits.length > 0 && <Limits limits={limits} />}
    </Section>
  )
}

function sentenceOf({ change, together, before, difference }: Headline): string {
  if (change === null || together.share === null || before.share === null || difference.share === null)
    return 'Too few outcomes are known to say whether more would go bad.'
  const rates = `${writeRate(together.share)} of what it approves, ${writeRate(before.share)} as decided`
  if (change === 'worse') return `More would go bad: ${rates}.`
  if (change === 'better') return `Less would go bad: ${rates}.`
  return `No difference is shown: ${rates}.`
}

function ChangeIcon({ change }: { change: Headline['change'] }) {
  const props = { size: 22, stroke: 1.75, 'aria-hidden': true } as const
  if (change === 'worse') return <IconTrendingUp {...props} />
  if (change === 'better') return <IconTrendingDown {...props} />
  return change === null ? <IconHelpCircle {...props} /> : <IconEqual {...props} />
}

function Rates({ headline }: { headline: Headline }) {
  const { before, kept, newly_approved, together, difference } = headline
  const { expected, by_table } = newly_approved
  const max = scaleFor([before, together, kept.outcomes, expected])
  const known = ({ bad, known: of }: Headline['before']) =>
    of === 0 ? 'no outcome known' : `${writeCount(bad)} of ${writeCount(of)} known`
  const byTable = by_table === null ? '' : `; ${writeRate(by_table)} by the probabilities alone`
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard
    <section className={classes.scroll} aria-label="Bad rates" tabIndex={0}>
      <table className={classes.estimates}>
        <thead>
          <tr>
            <td />
            <th scope="col">Bad rate</th>
            <th scope="col">95 % interval</th>
            <th scope="col">From</th>
            <th scope="col">0 to {writeScaleEnd(max)}</th>
          </tr>
        </thead>
        <tbody>
          <Row name="Approved under this policy" estimate={together} max={max} isStrong from="both lines below" />
          <Row
            name={`Kept: ${writeCount(kept.approved)}, approved then and now`}
            estimate={kept.outcomes}
            max={max}
            isPart
            isEmpty={kept.approved === 0}
            from={`observed, ${known(kept.outcomes)}`}
          />
          <Row
            name={`Newly approved: ${writeCount(newly_approved.approved)}`}
            estimate={expected}
            max={max}
            isPart
            isEmpty={newly_approved.approved === 0}
            from={expected.share === null ? '–' : `expected${byTable}`}
          />
          <Row name="Approved as decided" estimate={before} max={max} from={`observed, ${known(before)}`} />
          <tr>
            <th scope="row">Difference</th>
            <td className="nowrap">{difference.share === null ? 'not known' : writePoints(difference.share)}</td>
            <td className="nowrap">
              {difference.low === null || difference.high === null
                ? '–'
                : `${writePoints(difference.low)} to ${writePoints(difference.high)}`}
            </td>
            <td />
            <td data-bar />
          </tr>
        </tbody>
      </table>
    </section>
  )
}

function Row({
  name,
  estimate,
  from,
  max,
  isStrong,
  isPart,
  isEmpty,
}: {
  name: string
  estimate: ShownEstimate
  from: string
  max: number
  isStrong?: boolean
  isPart?: boolean
  /** Whether there is nothing of which a rate could be known. */
  isEmpty?: boolean
}) {
  return (
    <tr data-strong={isStrong || undefined} data-part={isPart || undefined}>
      <th scope="row">{name}</th>
      <td className="nowrap">{isEmpty ? '–' : writeEstimate(estimate)}</td>
      <td className="nowrap">{writeInterval(estimate)}</td>
      <td className="small dim">{from}</td>
      <td data-bar>
        <RateInterval estimate={estimate} max={max} />
      </td>
    </tr>
  )
}

function Limits({ limits }: { limits: BacktestResult['limits'] }) {
  const broken = limits.filter(({ is_kept }) => !is_kept).length
  return (
    <>
      <h3 className={classes.limitsTitle}>
        {broken === 0
          ? 'The limits of this policy are kept'
          : `${broken === 1 ? 'A limit is' : `${writeCount(broken)} limits are`} broken: this version cannot be approved`}
      </h3>
      <ul className={classes.limits}>
        {limits.map(({ limit, is_kept, words }) => (
          <li key={limit}>
            {is_kept ? (
              <IconCircleCheck size={16} stroke={1.75} color="var(--ok-c)" aria-label="kept" />
            ) : (
              <IconCircleX size={16} stroke={1.75} color="var(--no-c)" aria-label="broken" />
            )}
            {capitalized(words)}
          </li>
        ))}
      </ul>
    </>
  )
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
