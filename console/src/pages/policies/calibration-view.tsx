import { Button, Skeleton } from '@mantine/core'
import { IconAdjustments } from '@tabler/icons-react'
import type { OutputOf } from '../../api/operation-types.ts'
import { usePermission } from '../../api/use-me.ts'
import { useOperation } from '../../api/use-operation.ts'
import { Failed } from '../../components/failed.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { Banner } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { writeCount, writeRate } from '../../components/write-number.ts'
import classes from './policies.module.css'
import { RateInterval, scaleFor, writeEstimate, writeInterval, writeScaleEnd } from './rate-interval.tsx'

type Calibration = OutputOf<'policy-calibration.show'>

/** What a version expects of the decisions with known outcomes, against what was observed, and the points that would fit. */
export function CalibrationTab({ version }: { version: string }) {
  const query = useOperation('policy-calibration.show', { version })
  if (query.error) return <Failed error={query.error} onRetry={query.refetch} />
  if (!query.data) return <Skeleton height={240} />
  return <CalibrationView calibration={query.data} />
}

function CalibrationView({ calibration }: { calibration: Calibration }) {
  const { expected, observed, has_parted, maturity_days, measured_at } = calibration
  if (expected === null)
    return (
      <Section title="Expected and observed">
        <p className="secondary">
          {maturity_days === 0
            ? 'No outcome is known yet of an approved credit.'
            : `No outcome is known of an approved credit that is ${writeCount(maturity_days)} days old.`}
        </p>
      </Section>
    )
  return (
    <>
      {has_parted && (
        <Banner tone="warn">
          <p>
            This version expects {writeRate(expected)} to go bad, and {writeInterval(observed)} is what its outcomes
            allow.
          </p>
        </Banner>
      )}
      <Section
        title="Expected and observed"
        sub="bad rates of approved credit by score, with 95 % intervals by entity"
        footer={
          <>
            Outcomes count once a decision is {writeCount(maturity_days)} days old. Measured{' '}
            <Time at={measured_at} as="relative" /> on the newest decisions with an outcome.
          </>
        }
      >
        <Bands calibration={calibration} />
      </Section>
      <Proposals calibration={calibration} />
    </>
  )
}

function Bands({ calibration: { bands, expected, observed } }: { calibration: Calibration }) {
  const max = scaleFor(
    [observed, ...bands.map((band) => band.observed)],
    [expected, ...bands.map((band) => band.expected)],
  )
  const rows = [
    ...bands.map((band) => ({
      name: band.score_from === band.score_to ? `${band.score_from}` : `${band.score_from} to ${band.score_to}`,
      ...band,
    })),
    { name: 'All', expected, observed },
  ]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard
    <section className={classes.scroll} aria-label="Expected and observed bad rates" tabIndex={0}>
      <table className={classes.estimates}>
        <thead>
          <tr>
            <th scope="col">Score</th>
            <th scope="col">Expected</th>
            <th scope="col">Observed</th>
            <th scope="col">95 % interval</th>
            <th scope="col">Known</th>
            <th scope="col">0 to {writeScaleEnd(max)}: ring expected, line observed</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, expected: mean, observed: ends }) => (
            <tr key={name} data-strong={name === 'All' || undefined}>
              <th scope="row">{name}</th>
              <td>{mean === null ? '–' : writeRate(mean)}</td>
              <td>{writeEstimate(ends)}</td>
              <td className="nowrap">{writeInterval(ends)}</td>
              <td className="small dim nowrap">
                {writeCount(ends.bad)} of {writeCount(ends.known)}
              </td>
              <td data-bar>
                <RateInterval estimate={ends} expected={mean} max={max} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Proposals({ calibration: { version, proposals } }: { calibration: Calibration }) {
  const mayPropose = usePermission('propose policies')
  return (
    <Section title="Calibration points">
      {proposals.length === 0 ? (
        <p className="secondary">Too few outcomes are known to fit the probabilities: it takes those of 50 entities.</p>
      ) : (
        <>
          <ul className={classes.limits}>
            {proposals.map(({ segment, points, points_low, points_high, points_now }) => (
              <li key={segment ?? ''}>
                <span>
                  {segment !== null && <>Segment {segment}: </>}
                  <b>{signed(points)}</b> would make the expected rate the observed one (from {signed(points_low)} to{' '}
                  {signed(points_high)}); now {signed(points_now)}.
                </span>
              </li>
            ))}
          </ul>
          <p className="small dim">
            They are added to the score before its probability is read. They move probabilities, and limits that follow
            from them; scores, tiers and the cutoff stay.
          </p>
          {mayPropose && (
            <Button
              mt={12}
              component={PageLink}
              to="policies/new"
              search={{ from: version, calibrated: '1' }}
              variant="default"
              leftSection={<IconAdjustments size={16} stroke={1.75} />}
            >
              Write a calibrated version
            </Button>
          )}
        </>
      )}
    </Section>
  )
}

function signed(points: number): string {
  if (points === 0) return '0'
  return points > 0 ? `+${points}` : `−${-points}`
}
