import { IconAffiliate, IconSignature } from '@tabler/icons-react'
import { useMembership } from '../../api/use-me.ts'
import type { usePages } from '../../api/use-operation.ts'
import { Avatar } from '../../components/avatar.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { usePageSearch } from '../../components/use-search.ts'
import { Verdict } from '../../components/verdict.tsx'
import { writeCount, writeMoney } from '../../components/write-number.ts'
import { DeadlineBadge } from './deadline-badge.tsx'
import type { ListedCase } from './review-case.ts'
import classes from './review-queue.module.css'
import { ScoreBar } from './score-bar.tsx'
import { triggerWords } from './trigger-words.ts'

const DEADLINE: Column<ListedCase> = {
  id: 'deadline',
  header: 'Deadline',
  onPhone: 'top end',
  cell: ({ due_at, assignee }) => (
    <>
      <DeadlineBadge dueAt={due_at} />
      <span className={classes.below}>
        <Time at={due_at} />
        {assignee && (
          <>
            {' · '}
            <Avatar name={assignee.name} size={18} />
            <span className="visually-hidden">assigned to {assignee.name}</span>
          </>
        )}
      </span>
    </>
  ),
}

const DECIDED: Column<ListedCase> = {
  id: 'decided',
  header: 'Decided',
  onPhone: 'top end',
  cell: ({ end }) =>
    end && (
      <>
        {end.verdict ? <Verdict verdict={end.verdict} /> : 'Reviewed'}
        {end.limit && <span className={classes.below}>{writeMoney(end.limit.amount, end.limit.currency)} granted</span>}
        <span className={classes.below}>
          {end.by}, <Time at={end.at} />
        </span>
      </>
    ),
}

const OTHERS: readonly Column<ListedCase>[] = [
  {
    id: 'applicant',
    header: 'Applicant',
    onPhone: 'top',
    cell: (listed) => (
      <>
        <span className="strong">{listed.entity.name}</span>
        <span className={classes.below}>{askedFor(listed)}</span>
      </>
    ),
  },
  {
    id: 'score',
    header: 'Score',
    cell: ({ decision }) => <ScoreBar score={decision.score} cutoff={decision.cutoff} />,
    onPhone: 'bottom end',
  },
  {
    id: 'trigger',
    header: 'What triggered it',
    cell: (listed) => <TriggerWords listed={listed} />,
    onPhone: 'bottom',
  },
  {
    id: 'prior',
    header: 'Prior',
    cell: ({ prior_reviews }) => (
      <span title="Earlier reviews of this entity">{prior_reviews === 0 ? '–' : writeCount(prior_reviews)}</span>
    ),
    hideOnPhone: true,
  },
  { id: 'links', header: 'Links', cell: (listed) => <Links listed={listed} />, hideOnPhone: true },
]

/** The cases that the filters of the URL select. A row opens its case, and the URL says which one is open. */
export function QueueTable({
  query,
  isDecided,
}: {
  query: ReturnType<typeof usePages<'cases.list'>>
  isDecided: boolean
}) {
  const [{ case: open, ...kept }] = usePageSearch('review-queue')
  return (
    <DataTable
      label="Cases"
      columns={[isDecided ? DECIDED : DEADLINE, ...OTHERS]}
      rows={query.data?.pages.flatMap(({ cases }) => cases)}
      keyOf={({ id }) => id}
      linkOf={({ id }) => ({ to: 'review-queue', search: { ...kept, case: id } })}
      isSelected={({ id }) => id === open}
      query={{ isPending: query.isPending, error: query.error, refetch: () => void query.refetch() }}
      more={query}
      empty={<NoCases isFiltered={Object.keys(kept).length > 0} isDecided={isDecided} />}
    />
  )
}

function NoCases({ isFiltered, isDecided }: { isFiltered: boolean; isDecided: boolean }) {
  if (isDecided)
    return <EmptyState title="No case is decided yet">Decided cases stay here with who, when and why.</EmptyState>
  if (isFiltered) return <EmptyState title="No case matches">Remove a filter to see the other cases.</EmptyState>
  return (
    <EmptyState title="No case waits for you">
      A decision that the policy leaves to a person opens a case here. Further decisions about the same applicant join
      it.
    </EmptyState>
  )
}

function TriggerWords({ listed }: { listed: ListedCase }) {
  const { title, isCode, words } = triggerWords(listed)
  const me = useMembership()?.operator_id
  const { signature, end } = listed
  return (
    <span className={classes.trigger}>
      {signature && !end && (
        <span>
          <StateBadge tone="warn" icon={<IconSignature size={13} stroke={1.75} />}>
            {signature.by_id === me ? 'waits for a second signature' : 'needs a second signature'}
          </StateBadge>{' '}
          <span className="secondary small">{signature.by_id === me ? 'you' : signature.by} signed first</span>
        </span>
      )}
      {isCode ? <code>{title}</code> : <span className="strong">{title}</span>}
      <span className="secondary small">{words}</span>
    </span>
  )
}

function Links({ listed: { neighbours, bad_neighbours, bad_paths } }: { listed: ListedCase }) {
  const bad = Math.max(bad_neighbours, bad_paths)
  if (bad === 0)
    return neighbours === 0 ? <span className="dim">–</span> : <span className="num">{writeCount(neighbours)}</span>
  return (
    <span className={`text-decline nowrap ${classes.bad}`}>
      <IconAffiliate size={14} stroke={1.75} aria-hidden="true" />
      {writeCount(bad)} bad{neighbours >= bad ? ` of ${writeCount(neighbours)}` : ''}
    </span>
  )
}

/** What was asked for: an amount of a product, or access to it. */
export function askedFor({ decision: { requested, product } }: Pick<ListedCase, 'decision'>): string {
  const words = product.replaceAll('_', ' ')
  return requested ? `${writeMoney(requested.amount, requested.currency)} · ${words}` : `Access · ${words}`
}
