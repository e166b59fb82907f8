import type { OutputOf } from '../api/operation-types.ts'
import type { Column } from '../components/data-table.tsx'
import { entityName } from '../components/entity-name.ts'
import { Verdict } from '../components/verdict.tsx'
import { writeMoney } from '../components/write-number.ts'
import classes from './decision-columns.module.css'
import { isGranted, type Review, writeConditions } from './granted.tsx'
import { writeDecimal, writePoints } from './write-feature.ts'

type Decision = OutputOf<'overview.show'>['newest'][number]

/** The columns with which every list of decisions begins: verdict, entity, what was asked, could be lent and was granted, score and tier. */
export const DECISION_COLUMNS: readonly Column<Decision>[] = [
  { id: 'verdict', header: 'Verdict', onPhone: 'bottom', track: '114px', cell: verdictOf },
  { id: 'entity', header: 'Entity', onPhone: 'top', track: 'minmax(130px, 1.86fr)', cell: entityOf },
  { id: 'asked', header: 'Asked', end: true, onPhone: 'top end', track: 'minmax(92px, 0.8fr)', cell: askedOf },
  { id: 'could-lend', header: 'Could lend', end: true, hideOnPhone: true, track: 'minmax(92px, 0.8fr)', cell: lendOf },
  { id: 'granted', header: 'Granted', hideOnPhone: true, track: 'minmax(132px, 1.5fr)', cell: grantedOf },
  { id: 'score', header: 'Score', end: true, hideOnPhone: true, track: '72px', cell: scoreOf },
  { id: 'tier', header: 'Tier', hideOnPhone: true, track: '40px', cell: ({ risk_tier }) => risk_tier },
]

function entityOf({ entity }: Decision) {
  const name = entityName(entity)
  return (
    <span className="strong" title={name}>
      {name}
    </span>
  )
}

function verdictOf({ verdict, review }: Decision) {
  return (
    <>
      <Verdict verdict={verdict} />
      {review && <span className={classes.onPhone}> {grantWords(review)}</span>}
    </>
  )
}

function askedOf({ requested }: Decision) {
  if (!requested) return <span className="dim">Access only</span>
  return <span className="num nowrap">{writeMoney(requested.amount, requested.currency)}</span>
}

function lendOf({ requested, limit }: Decision) {
  if (!requested || limit === null) return <span className="dim">–</span>
  return <span className="num nowrap">{writeMoney(limit, requested.currency)}</span>
}

/** What a person granted, and who; a decision that was left to a person and has no review waits. */
function grantedOf({ verdict, review }: Decision) {
  if (!review) return verdict === 'manual_review' ? <span className="text-review">waiting</span> : <Nothing />
  const { reviewer, through_key } = review
  const key = through_key && `, through API key ${through_key.name ?? through_key.id}`
  const conditions = review.conditions.length > 0 ? `; on the conditions: ${writeConditions(review)}` : ''
  return (
    <span className="nowrap" title={`${grantWords(review)} by ${reviewer}${key ?? ''}${conditions}`}>
      <span className="num">{isGranted(review) ? limitOf(review) : 'nothing'}</span>{' '}
      <span className="dim small">{reviewer}</span>
    </span>
  )
}

function grantWords(review: Review): string {
  return `${isGranted(review) ? limitOf(review) : 'nothing'} granted`
}

function limitOf({ limit }: Review): string {
  return limit ? writeMoney(limit.amount, limit.currency) : 'no limit'
}

function Nothing() {
  return <span className="dim">–</span>
}

/** The score and how far it is from the cutoff. Access without credit is not a question of the score. */
function scoreOf({ score, requested }: Decision) {
  if (!score || !requested) return <span className="dim">–</span>
  const points = score.total - score.cutoff
  return (
    <span className="num nowrap" title={`The cutoff is ${writeDecimal(score.cutoff)}`}>
      {writeDecimal(score.total)} <span className="dim small">{writePoints(points)}</span>
    </span>
  )
}
