import { Button, Progress, Select, TextInput } from '@mantine/core'
import { IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { type Membership, usePermission } from '../../api/use-me.ts'
import { useAct, useOperation } from '../../api/use-operation.ts'
import { LiveNumberField } from '../../components/money/live-number-field.tsx'
import { currentNotation } from '../../components/money/number-notation.ts'
import { RetryLabel } from '../../components/retry-label.tsx'
import { Section } from '../../components/section.tsx'
import { Banner } from '../../components/state-badge.tsx'
import { writeCount } from '../../components/write-number.ts'
import { writeTime } from '../../components/write-time.ts'
import { AskReason } from '../../drafts/ask-reason.tsx'
import { useDraft } from '../../drafts/use-draft.ts'
import { rolesInWords } from '../../shell/role-name.ts'
import { BacktestView } from './backtest-view.tsx'
import classes from './policies.module.css'

/** The backtests of a policy and the one that is running; asks often while one runs. */
export function useBacktests(version: string) {
  const [isRunning, setIsRunning] = useState(false)
  const query = useOperation('policy-backtests.list', { version }, { refetchIntervalMs: isRunning ? 700 : 10_000 })
  const runsNow = Boolean(query.data?.running)
  useEffect(() => setIsRunning(runsNow), [runsNow])
  const newest = query.data?.backtests[0]?.id
  return { query, newest }
}

/** Starts a backtest, shows how far it is, and the results. */
export function BacktestTab({ version }: { version: string }) {
  const { query, newest } = useBacktests(version)
  const [chosen, setChosen] = useState<string | null>(null)
  const id = chosen ?? newest
  const shown = useOperation('policy-backtests.show', { id: id ?? '' }, { enabled: id !== undefined })
  const running = query.data?.running
  return (
    <div className={classes.column}>
      <Section title="Backtest" sub="Recorded decisions, decided again from their facts; nothing else is written">
        {running ? (
          <Running running={running} />
        ) : (
          <Start
            version={version}
            begunBy={query.data?.begun_by ?? []}
            decisionsMax={query.data?.decisions_max}
            onStart={() => setChosen(null)}
          />
        )}
      </Section>
      {query.data?.failure && !running && (
        <Banner tone="warn">
          <p>The last backtest has no result. {query.data.failure}</p>
        </Banner>
      )}
      {query.data && query.data.backtests.length > 1 && (
        <Select
          label="Result"
          value={id ?? null}
          onChange={setChosen}
          allowDeselect={false}
          data={query.data.backtests.map(({ id: value, at, by, decided }) => ({
            value,
            label: `${writeTime(at, 'date-time')}, ${writeCount(decided)} decisions, by ${by}`,
          }))}
        />
      )}
      {id !== undefined && shown.data && <BacktestView result={shown.data.result} />}
    </div>
  )
}

/** The days that bound a backtest. */
const DAYS = [
  { name: 'from', label: 'From' },
  { name: 'to', label: 'Before' },
] as const

function Start({
  version,
  begunBy,
  decisionsMax,
  onStart,
}: {
  version: string
  begunBy: readonly Membership['role'][]
  /** Undefined until the server has answered. */
  decisionsMax: number | undefined
  onStart: () => void
}) {
  const mayStart = usePermission('backtest policies')
  const draft = useDraft(`backtest ${version}`, { last: 10_000 as number | null, from: '', to: '' })
  const { last, from, to } = draft.value
  const [isClear, setClear] = useState(true)
  const start = useAct('policy-backtests.begin', { onDone: onStart })
  if (!mayStart) return <p className="dim">Ask {rolesInWords(begunBy)} to run a backtest.</p>
  const timeOf = (day: string) => new Date(`${day}T00:00:00Z`).toISOString()
  return (
    <form
      className={classes.range}
      onSubmit={(event) => {
        event.preventDefault()
        start.mutate(
          {
            version,
            last: last!,
            ...(from && { from: timeOf(from) }),
            ...(to && { to: timeOf(to) }),
          },
          { draft },
        )
      }}
    >
      <LiveNumberField
        label="The newest decisions"
        description={decisionsMax === undefined ? undefined : `at most ${writeCount(decisionsMax)}`}
        value={last}
        whenEmpty="Write how many."
        readOnly={start.isPending}
        rules={{ notation: currentNotation(), decimals: 0 }}
        onValue={(value) => draft.change({ ...draft.value, last: value })}
        onClear={setClear}
      />
      {DAYS.map(({ name, label }) => (
        <TextInput
          key={name}
          label={label}
          description="optional, UTC"
          type="date"
          readOnly={start.isPending}
          value={draft.value[name]}
          onChange={(event) => draft.change({ ...draft.value, [name]: event.currentTarget.value })}
        />
      ))}
      <Button
        type="submit"
        leftSection={<IconPlayerPlay size={16} stroke={1.75} />}
        loading={start.isPending}
        disabled={!isClear || last === null || decisionsMax === undefined || last > decisionsMax}
      >
        <RetryLabel isRetry={draft.isRetry}>Run backtest</RetryLabel>
      </Button>
    </form>
  )
}

function Running({ running }: { running: NonNullable<OutputOf<'policy-backtests.list'>['running']> }) {
  const mayCancel = usePermission('backtest policies')
  const [isAsking, setIsAsking] = useState(false)
  const cancel = useAct('policy-backtests.cancel', {
    says: 'The backtest was cancelled.',
    onDone: () => setIsAsking(false),
  })
  const { decided, total, is_of_this_policy } = running
  const done = total === 0 ? 0 : Math.round((decided / total) * 100)
  return (
    <div className={classes.column}>
      <p aria-live="polite">
        {is_of_this_policy ? '' : 'A backtest of another version: '}
        {writeCount(decided)} of {writeCount(total)} decisions
      </p>
      <Progress value={done} aria-label="How far the backtest is" />
      {mayCancel && (
        <div>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlayerStop size={14} stroke={1.75} />}
            onClick={() => setIsAsking(true)}
          >
            Cancel the backtest
          </Button>
          <AskReason
            opened={isAsking}
            onClose={() => setIsAsking(false)}
            title="Cancel the backtest"
            explanation="It ends without a result. Backtests that came to their end stay."
            act="Cancel the backtest"
            dismiss="Let it run"
            isReasonOptional
            about="cancel the backtest"
            sending={cancel}
            onConfirm={(reason, draft) => cancel.mutate(reason === '' ? {} : { reason }, { draft })}
          />
        </div>
      )}
    </div>
  )
}
