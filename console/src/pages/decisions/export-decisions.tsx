import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { call } from '../../api/call.ts'
import { usePermission } from '../../api/use-me.ts'
import { usePlace } from '../../api/use-place.ts'
import { csvOf, download } from '../../components/download.ts'
import { useExport } from '../../components/use-export.ts'
import { writeConditions } from '../../decision-view/granted.tsx'
import type { DecisionFilter, ListedDecision } from './decision-filter.ts'

/** Saves the decisions that the filter shows as CSV. */
export function ExportDecisions({ filter }: { filter: DecisionFilter }) {
  const place = usePlace()
  const mayExport = usePermission('export data')
  const { run, progress } = useExport<ListedDecision>({
    words: { one: 'decision', many: 'decisions' },
    readPage: async (position) => {
      const { decisions, next_cursor } = await call(place, 'decisions.export', { ...filter, ...position })
      return { rows: decisions, next: next_cursor }
    },
  })
  const save = (decisions: readonly ListedDecision[]) => {
    const name = `decisions-${place.environment}-${new Date().toISOString().slice(0, 10)}.csv`
    download(name, csvOf(HEAD, decisions.map(rowOf)), 'text/csv')
  }
  if (!mayExport) return null
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={15} stroke={1.75} />}
      disabled={progress !== undefined}
      aria-live="polite"
      onClick={() => void run(save)}
    >
      {progress ?? 'CSV'}
    </Button>
  )
}

const HEAD = [
  ...['id', 'decided_at', 'verdict', 'tier', 'score', 'cutoff'],
  ...['entity_id', 'external_id', 'entity_name', 'product', 'reference'],
  ...['requested_amount', 'currency', 'recommended_limit', 'policy_version', 'outcome'],
  ...['review', 'granted_limit', 'granted_conditions', 'reviewer', 'review_api_key', 'reviewed_at'],
]

function rowOf(decision: ListedDecision): (string | number | null)[] {
  const { entity, requested, score, review } = decision
  return [
    ...[decision.id, decision.decided_at, decision.verdict, decision.risk_tier],
    ...[score?.total ?? null, score?.cutoff ?? null],
    ...[entity.id, entity.external_id, entity.name, decision.product, decision.reference],
    ...[requested?.amount ?? null, requested?.currency ?? null, decision.limit, decision.policy_version],
    decision.outcome,
    ...[review?.verdict ?? null, review?.limit?.amount ?? null, review ? writeConditions(review) : null],
    ...[review?.reviewer ?? null, review?.through_key?.id ?? null, review?.at ?? null],
  ]
}
