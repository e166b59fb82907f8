import { ActionIcon, Button, Menu, Skeleton } from '@mantine/core'
import { IconAlertTriangle, IconChevronDown, IconChevronUp, IconDots, IconUserCheck, IconX } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { useMembership, usePermission } from '../../api/use-me.ts'
import { useAct, useOperation } from '../../api/use-operation.ts'
import { CopyableId } from '../../components/copyable-id.tsx'
import { Failed } from '../../components/failed.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { Banner, StateBadge } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { writeMoney } from '../../components/write-number.ts'
import { useDraft } from '../../drafts/use-draft.ts'
import { KEYS, writeKey } from '../../shell/shortcut-tables.ts'
import { KeyCap } from '../../shell/shortcuts.tsx'
import { type CaseAnswer, NO_ANSWER } from './case-answer.ts'
import { conflictOf, isRecorded } from './case-conflict.ts'
import { CaseEnded } from './case-ended.tsx'
import { CaseNotes } from './case-notes.tsx'
import { CaseSummary } from './case-summary.tsx'
import { Conflict } from './conflict.tsx'
import { DeadlineBadge } from './deadline-badge.tsx'
import { DecideForm } from './decide-form.tsx'
import type { ShownCase } from './review-case.ts'
import classes from './review-queue.module.css'
import { SecondSignature } from './second-signature.tsx'
import { WholeDecision } from './whole-decision.tsx'

/** What the drawer of a case needs from the queue. */
interface CaseDrawerProps {
  id: string
  /** Where it is in the list: "3 of 7". */
  place: string | undefined
  onMove: (by: 1 | -1) => void
  onClose: () => void
  onDecided: () => void
}

/** One case beside the queue: why it waits for a person, what weighs, and the form that decides it. */
export function CaseDrawer(props: CaseDrawerProps) {
  const { id, onDecided, onMove } = props
  const query = useOperation('cases.show', { id }, { refetchIntervalMs: 5_000 })
  const mayReview = usePermission('review decisions')
  const me = useMembership()?.operator_id
  const shown = query.data?.id === id ? query.data : undefined
  const isTaken = shown?.assignee != null && shown.assignee.id !== me
  const draft = useDraft<CaseAnswer>(`review ${id}`, NO_ANSWER)
  const isDone = shown !== undefined && draft.isKept && isRecorded(shown, draft.value, me)
  useEffect(() => {
    // The answer to the reviewer's own decision was lost, and the case shows it now.
    if (isDone) draft.discard()
  })
  const conflict = shown && mayReview && draft.isKept && !isDone ? conflictOf(shown, draft.value, me) : undefined
  const ends = useRef<HTMLDivElement>(null)
  return (
    <aside className={classes.drawer} aria-label="Case">
      <DrawerHead {...props} shown={shown} me={me} mayReview={mayReview} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={classes.scroll} tabIndex={0} aria-label="What the case is about">
        {query.error && !shown && <Failed error={query.error} onRetry={() => void query.refetch()} />}
        {!query.error && !shown && <Skeleton height={240} />}
        {shown && <CaseEnded ref={ends} shown={shown} />}
        {shown && !shown.end && isTaken && <CaseTaken shown={shown} me={me} mayReview={mayReview} />}
        {shown && <CaseSummary shown={shown} />}
        {shown && <WholeDecision key={shown.decision.id} decisionId={shown.decision.id} />}
        {shown && <CaseNotes shown={shown} mayWrite={mayReview} />}
      </section>
      {shown?.signature && shown.signed && mayReview && !isTaken && (
        <SecondSignature
          shown={shown}
          signature={shown.signature}
          signed={shown.signed}
          me={me}
          onDecided={onDecided}
        />
      )}
      {shown && isUndecided(shown) && mayReview && !isTaken && !conflict && (
        // A request that joins the case adds its fields; what was written about the others stays.
        <DecideForm key={shown.id} shown={shown} draft={draft} onDecided={onDecided} />
      )}
      {shown && conflict && (
        <Conflict
          shown={shown}
          conflict={conflict}
          me={me}
          draft={draft}
          onSee={() => ends.current?.focus()}
          onNext={() => onMove(1)}
        />
      )}
    </aside>
  )
}

/** Whether the requests of a case wait for a verdict, and not for a second signature. */
function isUndecided({ end, requests, signature }: ShownCase): boolean {
  return !end && requests.length > 0 && !signature
}

function DrawerHead({
  shown,
  place,
  me,
  mayReview,
  onMove,
  onClose,
}: CaseDrawerProps & { shown: ShownCase | undefined; me: string | undefined; mayReview: boolean }) {
  return (
    <header className={classes.drawerHead}>
      <div className={classes.drawerTop}>
        {shown && !shown.end && <DeadlineBadge dueAt={shown.due_at} />}
        {shown && me && !shown.end && <Assignment shown={shown} me={me} mayReview={mayReview} />}
        <span className={classes.drawerMove}>
          {place && <span className="small dim num">{place}</span>}
          <ActionIcon aria-label={`The case before (${writeKey(KEYS.caseBefore)})`} onClick={() => onMove(-1)}>
            <IconChevronUp size={16} />
          </ActionIcon>
          <ActionIcon aria-label={`The next case (${writeKey(KEYS.nextCase)})`} onClick={() => onMove(1)}>
            <IconChevronDown size={16} />
          </ActionIcon>
          <ActionIcon aria-label={`Close the case (${writeKey(KEYS.closeCase)})`} onClick={onClose}>
            <IconX size={16} />
          </ActionIcon>
        </span>
      </div>
      {shown ? <Applicant shown={shown} /> : <Skeleton height={40} />}
    </header>
  )
}

/** What is asked for in all; the newest amount where the requests are decided, or their currencies differ. */
function AskedInAll({
  requests,
  alone,
}: {
  requests: ShownCase['requests']
  alone: ShownCase['decision']['requested']
}) {
  const amounts = requests.flatMap(({ requested }) => (requested ? [requested] : []))
  const [first] = amounts
  const isSum = first && requests.length > 1 && amounts.every(({ currency }) => currency === first.currency)
  const shown = isSum ? { ...first, amount: amounts.reduce((sum, { amount }) => sum + amount, 0) } : alone
  return (
    <span>
      {shown && <b className="num">{writeMoney(shown.amount, shown.currency)}</b>}
      {requests.length > 1 && <span className="secondary"> in {requests.length} requests</span>}
    </span>
  )
}

function Applicant({ shown: { entity, decision, requests } }: { shown: ShownCase }) {
  const words = [decision.product.replaceAll('_', ' '), entity.type, entity.country].filter(Boolean).join(' · ')
  return (
    <>
      <div className={classes.applicant}>
        <h2>
          <PageLink to={`entities/${entity.id}`}>{entity.name}</PageLink>
        </h2>
        <AskedInAll requests={requests} alone={decision.requested} />
      </div>
      <div className={classes.applicant} data-below>
        <span className="secondary">
          {words} · since <Time at={entity.since} as="date" />
        </span>
        <CopyableId id={decision.id} short />
      </div>
    </>
  )
}

function Assignment({ shown, me, mayReview }: { shown: ShownCase; me: string; mayReview: boolean }) {
  const assign = useAct('cases.assign')
  const seen = shown.assignee?.id ?? null
  const give = (to: string | null) => assign.mutate({ id: shown.id, to, seen })
  const others = shown.reviewers.filter(({ id }) => id !== me && id !== seen)
  return (
    <>
      {seen === null && !mayReview && <StateBadge outline>Free</StateBadge>}
      {seen !== null && (
        <StateBadge {...(seen === me && { tone: 'accent' })} icon={<IconUserCheck size={13} />}>
          Assigned to {seen === me ? 'you' : shown.assignee?.name}
        </StateBadge>
      )}
      {seen === null && mayReview && (
        <Button
          variant="default"
          size="compact-xs"
          loading={assign.isPending}
          rightSection={<KeyCap of={KEYS.assignToMe} />}
          onClick={() => give(me)}
        >
          Assign to me
        </Button>
      )}
      {mayReview && (seen === me || others.length > 0) && (
        <Menu position="bottom-start">
          <Menu.Target>
            <ActionIcon aria-label="Give the case to">
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown aria-label="Give the case to">
            {seen === me && <Menu.Item onClick={() => give(null)}>Give it back to the queue</Menu.Item>}
            {others.map(({ id, name }) => (
              <Menu.Item key={id} onClick={() => give(id)}>
                Assign to {name}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  )
}

function CaseTaken({ shown, me, mayReview }: { shown: ShownCase; me: string | undefined; mayReview: boolean }) {
  const assign = useAct('cases.assign', { says: 'The case is yours now.' })
  const { assignee, id } = shown
  if (!assignee) return null
  return (
    <div role="status" className={classes.block}>
      <Banner
        tone="warn"
        icon={<IconAlertTriangle size={16} stroke={1.75} />}
        action={
          mayReview && me ? (
            <Button
              variant="default"
              size="xs"
              loading={assign.isPending}
              onClick={() => assign.mutate({ id, to: me, seen: assignee.id })}
            >
              Take it over
            </Button>
          ) : undefined
        }
      >
        <b>{assignee.name}</b> took this case <Time at={assignee.since} as="relative" />. Only one reviewer decides.
      </Banner>
    </div>
  )
}
