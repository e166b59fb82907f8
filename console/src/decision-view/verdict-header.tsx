import { Button } from '@mantine/core'
import { IconBraces, IconEyeOff, IconFlask, IconRefresh, IconUserCheck } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { Fragment } from 'react'
import { useAct } from '../api/use-operation.ts'
import { usePlace } from '../api/use-place.ts'
import { CopyableId } from '../components/copyable-id.tsx'
import { entityName } from '../components/entity-name.ts'
import { PageLink } from '../components/page-link.tsx'
import { StateBadge } from '../components/state-badge.tsx'
import { Time } from '../components/time.tsx'
import { Verdict } from '../components/verdict.tsx'
import { writeMoney, writePercent } from '../components/write-number.ts'
import { KEYS, ON_DECISION } from '../shell/shortcut-tables.ts'
import { KeyCap } from '../shell/shortcuts.tsx'
import { useShortcuts } from '../shell/use-shortcuts.ts'
import classes from './decision-view.module.css'
import { isGranted, type Review, ReviewedBy, writeConditions } from './granted.tsx'
import { ReplayBadge } from './replay-result.tsx'
import type { ShownDecision, ViewData } from './view-data.ts'
import { writeDecimal } from './write-feature.ts'

/** The answer: verdict, amount, whose decision it is, and the figures behind it; with the acts of a recorded decision. */
export function VerdictHeader({ view, shown, says }: { view: ViewData; shown?: ShownDecision; says?: string }) {
  const { entity, evidence } = view
  const { product } = evidence
  const review = shown?.since.reviews.at(-1)
  return (
    <section className={classes.header} aria-label="Verdict">
      <div className={classes.headerTop}>
        <div className={classes.headerWords}>
          <div className={classes.badges}>
            <span className={classes.verdict} data-verdict={view.verdict ?? undefined}>
              {view.verdict ? <Verdict verdict={view.verdict} whole /> : 'The verdict cannot be read'}
            </span>
            {shown ? (
              <>
                <ReplayBadge replay={shown.replay} />
                <ReviewBadge shown={shown} />
              </>
            ) : (
              <StateBadge tone="warn" icon={<IconEyeOff size={13} />}>
                {says ?? 'Dry run, nothing is recorded'}
              </StateBadge>
            )}
          </div>
          <p className={classes.amount}>{amountOf(view, review)}</p>
          {review && <GrantedBy review={review} />}
          <p className={classes.about}>
            {entity.id === '' ? 'A persona' : <PageLink to={`entities/${entity.id}`}>{entityName(entity)}</PageLink>}
            {' · '}
            {view.product.replaceAll('_', ' ')}
            {product &&
              product.term_months !== null &&
              `, ${product.term_months} months at ${writePercent(product.annual_rate)}`}
            {shown && (
              <>
                {' · '}
                <Time at={shown.decided_at} />
              </>
            )}
          </p>
          {view.merged.length > 0 && <ReadAsOne merged={view.merged} />}
        </div>
        {shown && <Acts shown={shown} />}
      </div>
      <dl className={classes.figures}>
        {figuresOf(view, shown).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

/** The entities whose facts it was made from, if there were several. */
function ReadAsOne({ merged }: { merged: ViewData['merged'] }) {
  return (
    <p className={classes.about}>
      Made from the facts of {merged.length} merged entities:{' '}
      {merged.map((member, index) => (
        <Fragment key={member.id}>
          {index > 0 && ', '}
          <PageLink to={`entities/${member.id}`}>{entityName(member)}</PageLink>
        </Fragment>
      ))}
    </p>
  )
}

/** What a person granted, or else what the policy could lend, of what was asked. */
function amountOf({ requested, recommended_limit, verdict }: ViewData, review: Review | undefined) {
  if (!requested) return 'Access, without an amount'
  const words = () => {
    if (review) return grantOf(review)
    if (recommended_limit !== null) return `Could lend ${writeMoney(recommended_limit, requested.currency)}`
    return verdict === 'manual_review' ? 'No limit until a person decides' : 'Nothing is lent'
  }
  return (
    <>
      {words()} <span className="dim">of {writeMoney(requested.amount, requested.currency)} asked</span>
    </>
  )
}

function grantOf(review: Review): string {
  if (!isGranted(review)) return 'Nothing granted'
  return review.limit ? `${writeMoney(review.limit.amount, review.limit.currency)} granted` : 'Granted without a limit'
}

/** Who granted it, when and on which conditions; what the policy decided stays as it was. */
function GrantedBy({ review }: { review: Review }) {
  return (
    <p className={classes.grantedBy}>
      {isGranted(review) ? 'Granted' : 'Declined'} <ReviewedBy review={review} />
      {review.conditions.length > 0 && <> on the conditions: {writeConditions(review)}</>}
    </p>
  )
}

function figuresOf(view: ViewData, shown: ShownDecision | undefined): [string, React.ReactNode][] {
  const { score, confidence } = view.evidence
  const { policy, repayment_probability, tier, thresholds, requested } = view
  return [
    ...(score && requested
      ? ([
          [
            'Score',
            <>
              {writeDecimal(score.total)} <span className="dim small">cutoff {writeDecimal(score.cutoff)}</span>
            </>,
          ],
        ] as [string, React.ReactNode][])
      : []),
    ['Tier', tier ?? '–'],
    ...(repayment_probability === null
      ? []
      : ([['Will repay', writePercent(repayment_probability)]] as [string, React.ReactNode][])),
    ...(confidence
      ? ([
          [
            'Confidence',
            <>
              {writePercent(confidence.ppm / 1e6)}{' '}
              {thresholds && <span className="dim small">min {writePercent(thresholds.confidence_min_ppm / 1e6)}</span>}
            </>,
          ],
        ] as [string, React.ReactNode][])
      : []),
    [
      'Policy',
      <>
        {policy.version ?? '–'} {policy.checksum && <code className="dim small">{policy.checksum.slice(0, 8)}</code>}
      </>,
    ],
    ...(shown ? idsOf(shown) : []),
  ]
}

function idsOf({ id, reference }: ShownDecision): [string, React.ReactNode][] {
  const decision: [string, React.ReactNode] = ['Decision', <CopyableId key="id" id={id} short />]
  if (reference === null) return [decision]
  return [decision, ['Reference', <CopyableId key="reference" id={reference} short />]]
}

function ReviewBadge({ shown }: { shown: ShownDecision }) {
  const review = shown.since.reviews.at(-1)
  if (!review?.verdict) return null
  return (
    <StateBadge tone="neutral" icon={<IconUserCheck size={13} />}>
      Reviewed: {review.verdict.replaceAll('_', ' ')}
    </StateBadge>
  )
}

function Acts({ shown }: { shown: ShownDecision }) {
  const place = usePlace()
  const queries = useQueryClient()
  const replay = useAct('decisions.replay', {
    onDone: (result) =>
      queries.setQueryData(
        [place.organizationId, place.environment, 'decisions.show', { id: shown.id }],
        (current: ShownDecision | undefined) => current && { ...current, replay: result },
      ),
  })
  const run = () => replay.mutate({ id: shown.id })
  useShortcuts(ON_DECISION, { [KEYS.replay]: run })
  return (
    <div className={classes.acts}>
      <Button
        component={PageLink}
        to="playground"
        search={{ decision: shown.id }}
        variant="default"
        leftSection={<IconFlask size={15} stroke={1.75} />}
      >
        Open in playground
      </Button>
      <Button
        variant="default"
        leftSection={<IconBraces size={15} stroke={1.75} />}
        onClick={() => document.getElementById('raw-json')?.scrollIntoView({ block: 'center' })}
      >
        Raw JSON
      </Button>
      <Button
        leftSection={<IconRefresh size={15} stroke={1.75} />}
        rightSection={<KeyCap of={KEYS.replay} />}
        loading={replay.isPending}
        onClick={run}
      >
        Replay
      </Button>
    </div>
  )
}
