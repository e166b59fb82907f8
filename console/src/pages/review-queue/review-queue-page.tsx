import { Button, SegmentedControl } from '@mantine/core'
import { IconUserCheck } from '@tabler/icons-react'
import { useRef } from 'react'
import { showDone } from '../../api/messages.ts'
import type { InputOf } from '../../api/operation-types.ts'
import { useMembership, usePermission } from '../../api/use-me.ts'
import { useAct, usePages } from '../../api/use-operation.ts'
import { FilterChips } from '../../components/filter-chips.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Section } from '../../components/section.tsx'
import { usePageSearch } from '../../components/use-search.ts'
import { writeCount } from '../../components/write-number.ts'
import { IN_REVIEW_QUEUE, KEYS, type Shortcut } from '../../shell/shortcut-tables.ts'
import { KeyCap, KeyCaps } from '../../shell/shortcuts.tsx'
import { useShortcuts } from '../../shell/use-shortcuts.ts'
import { ApprovalLimits } from './approval-limits.tsx'
import { CaseDrawer } from './case-drawer.tsx'
import { QueueTable } from './queue-table.tsx'
import { ReviewBounds } from './review-bounds.tsx'
import type { ListedCase } from './review-case.ts'
import classes from './review-queue.module.css'

type Holder = NonNullable<InputOf<'cases.list'>['holder']>

const STATES = [
  { value: 'open', label: 'open' },
  { value: 'decided', label: 'decided' },
] as const

/** The page "Review queue": the cases that wait for a person, oldest first, and the one that is open beside them. */
export function ReviewQueuePage() {
  const queue = useQueue()
  const { cases, open, counts, mayReview } = queue
  const next = useAct('cases.take-next', {
    onDone: ({ id }) => (id === null ? showDone('No free case is left.') : queue.show(id)),
  })
  const assign = useAct('cases.assign')
  const me = useMembership()?.operator_id
  const openNow = useRef(open)
  openNow.current = open
  const goOn = () => {
    // The reviewer may have gone to another case before the answer came, and stays there.
    if (openNow.current === open) queue.show(neighbourOf(cases, open!)?.id)
  }
  const move = (by: 1 | -1) => {
    const index = cases?.findIndex(({ id }) => id === open) ?? -1
    const target = cases?.[index === -1 ? 0 : index + by]
    if (target) queue.show(target.id)
  }
  useShortcuts(IN_REVIEW_QUEUE, {
    [KEYS.nextCase]: () => move(1),
    [KEYS.caseBefore]: () => move(-1),
    [KEYS.takeNext]: () => mayReview && next.mutate({}),
    // Takes only a free case: to take one over from a colleague needs the button that names them.
    [KEYS.assignToMe]: () => open && me && mayReview && assign.mutate({ id: open, to: me, seen: null }),
    [KEYS.closeCase]: () => queue.show(undefined),
  })
  return (
    <div className={classes.layout} data-open={open !== undefined || undefined}>
      <div className={classes.pane}>
        <PageHeader title="Review queue" below={summaryOf(counts, queue.withinHours)}>
          {mayReview && (
            <Button
              leftSection={<IconUserCheck size={16} stroke={1.75} />}
              rightSection={<KeyCap of={KEYS.takeNext} />}
              loading={next.isPending}
              onClick={() => next.mutate({})}
            >
              Take next
            </Button>
          )}
        </PageHeader>
        <QueueFilters queue={queue} />
        <Section flush>
          <QueueTable query={queue.query} isDecided={queue.isDecided} />
        </Section>
        <KeyHints />
        <ReviewBounds />
        <ApprovalLimits />
      </div>
      {open !== undefined && (
        <CaseDrawer
          key={open}
          id={open}
          place={placeOf(cases, open)}
          onMove={move}
          onClose={() => queue.show(undefined)}
          onDecided={goOn}
        />
      )}
    </div>
  )
}

/** The queue by the filters of the URL, and the case that the URL opens. */
function useQueue() {
  const [search, setSearch] = usePageSearch('review-queue')
  const isDecided = search.state === 'decided'
  const holder: Holder = search.holder ?? 'all'
  const query = usePages(
    'cases.list',
    {
      ...(isDecided && { state: 'decided' as const }),
      ...(holder !== 'all' && { holder }),
      ...(search.deadline === 'over' && { deadline: 'over' as const }),
    },
    { refetchIntervalMs: 10_000 },
  )
  const [first] = query.data?.pages ?? []
  return {
    query,
    isDecided,
    holder,
    cases: query.data?.pages.flatMap((page) => page.cases),
    counts: first?.counts,
    withinHours: first?.within_hours,
    open: search.case,
    mayReview: usePermission('review decisions'),
    show: (id: string | undefined) => setSearch({ case: id }),
    setHolder: (value: Holder) => setSearch({ holder: value === 'all' ? undefined : value, case: undefined }),
  }
}

function QueueFilters({ queue: { counts, holder, setHolder, isDecided } }: { queue: ReturnType<typeof useQueue> }) {
  const count = (value: number | undefined) => (value === undefined || isDecided ? '' : ` ${writeCount(value)}`)
  return (
    <div className={classes.filters}>
      <FilterChips
        page="review-queue"
        filters={[
          { name: 'state', label: 'State', options: STATES },
          { name: 'deadline', label: 'Deadline', options: [{ value: 'over', label: 'over' }] },
        ]}
      />
      <SegmentedControl
        aria-label="Whose cases"
        value={holder}
        onChange={setHolder}
        data={[
          { value: 'all', label: `All${count(counts?.all)}` },
          { value: 'mine', label: `Mine${count(counts?.mine)}` },
          { value: 'free', label: `Free${count(counts?.free)}` },
          { value: 'to_sign', label: `To sign${count(counts?.to_sign)}` },
        ]}
      />
    </div>
  )
}

const HINTED: readonly Shortcut[] = IN_REVIEW_QUEUE.shortcuts.filter((shortcut) => 'hint' in shortcut)

function KeyHints() {
  return (
    <div className={classes.keys}>
      {HINTED.map((shortcut) => (
        <span key={shortcut.does}>
          <KeyCaps of={shortcut} />
          {shortcut.hint}
        </span>
      ))}
    </div>
  )
}

function summaryOf(
  counts: { all: number; overdue: number; is_more: boolean } | undefined,
  withinHours: number | undefined,
): string {
  if (!counts || withinHours === undefined) return 'Oldest first.'
  const many = `${writeCount(counts.all)}${counts.is_more ? '+' : ''} open ${counts.all === 1 ? 'case' : 'cases'}, oldest first.`
  const late = counts.overdue === 0 ? 'None' : writeCount(counts.overdue)
  return `${many} ${late} past the deadline of ${writeCount(withinHours)} hours.`
}

function placeOf(cases: readonly ListedCase[] | undefined, id: string): string | undefined {
  const index = cases?.findIndex((listed) => listed.id === id) ?? -1
  return index === -1 ? undefined : `${writeCount(index + 1)} of ${writeCount(cases!.length)}`
}

/** The case to go on with after one was decided: the next one of the list, or the one before it at its end. */
function neighbourOf(cases: readonly ListedCase[] | undefined, id: string): ListedCase | undefined {
  const index = cases?.findIndex((listed) => listed.id === id) ?? -1
  return index === -1 ? cases?.[0] : (cases?.[index + 1] ?? cases?.[index - 1])
}
