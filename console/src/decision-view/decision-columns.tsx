import type { OutputOf } from '../api/operation-types.ts'
import type { Column } from '../components/data-table.tsx'
import { Verdict } from '../components/verdict.tsx'
import { writeMoney } from '../components/write-number.ts'
import { writeDecimal, writePoints } from './write-feature.ts'

type Decision = OutputOf<'overview.read'>['newest'][number]

/** The columns with which every list of decisions begins: verdict, entity, amount, score and tier. */
export const DECISION_COLUMNS: readonly Column<Decision>[] = [
  {
    id: 'verdict',
    header: 'Verdict',
    onPhone: 'bottom',
    track: '114px',
    cell: ({ verdict }) => <Verdict verdict={verdict} />,
  },
  { id: 'entity', header: 'Entity', onPhone: 'top', track: 'minmax(140px, 1.86fr)', cell: entityOf },
  {
    id: 'amount',
    header: 'Amount',
    end: true,
    onPhone: 'top end',
    track: 'minmax(165px, 1.82fr)',
    cell: (decision) => <LentAmount {...decision} />,
  },
  { id: 'score', header: 'Score', end: true, hideOnPhone: true, track: '72px', cell: scoreOf },
  { id: 'tier', header: 'Tier', hideOnPhone: true, track: '40px', cell: ({ risk_tier }) => risk_tier },
]

function entityOf({ entity }: Decision) {
  const name = entity.name ?? entity.external_id ?? entity.id
  return (
    <span className="strong" title={name}>
      {name}
    </span>
  )
}

/** What was approved of what was asked for. */
export function LentAmount({ requested, limit }: Pick<Decision, 'requested' | 'limit'>) {
  if (!requested) return <span className="dim">Access only</span>
  const asked = writeMoney(requested.amount, requested.currency)
  if (limit === null || limit >= requested.amount) return <span className="num">{asked}</span>
  return (
    <span className="num nowrap">
      {writeMoney(limit, requested.currency)} <span className="dim">of {asked}</span>
    </span>
  )
}

/** The score and how far it is from the cutoff. Access without credit is not a question of the score. */
function scoreOf({ score, requested }: Decision) {
  if (!score || !requested) return <span className="dim">–</span>
  const points = score.total - score.cutoff
  return (
    <span className="num nowrap" title={`The cutoff is ${score.cutoff}`}>
      {writeDecimal(score.total)} <span className="dim small">{writePoints(points)}</span>
    </span>
  )
}
