import { Button, SegmentedControl, Skeleton, UnstyledButton } from '@mantine/core'
import { IconCircleCheck, IconCircleX, IconClock, IconRestore } from '@tabler/icons-react'
import { useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { usePermission } from '../../api/use-me.ts'
import { useAct, useOperation } from '../../api/use-operation.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { Failed } from '../../components/failed.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { Time } from '../../components/time.tsx'
import { writeAnswerTime, writeCount } from '../../components/write-number.ts'
import classes from './deliveries.module.css'
import type { Delivery } from './delivery.ts'

type Shown = OutputOf<'deliveries.show'>
type Attempt = Shown['attempts'][number]

/** One delivery unfolded: its attempts, and what was sent and answered in the chosen one. */
export function DeliveryDetail({ delivery }: { delivery: Delivery }) {
  const { endpoint_id, event_id } = delivery
  const query = useOperation('deliveries.show', { endpoint_id, event_id }, { refetchIntervalMs: 5_000 })
  const [chosen, setChosen] = useState<number>()
  if (query.error && !query.data) return <Failed error={query.error} onRetry={query.refetch} />
  if (!query.data || query.data.event_id !== event_id) return <Skeleton height={120} />
  const attempt = query.data.attempts.find(({ number }) => number === chosen) ?? query.data.attempts.at(-1)
  return (
    <div className={classes.detail}>
      <Attempts shown={query.data} delivery={delivery} chosen={attempt?.number} onChoose={setChosen} />
      <Message shown={query.data} attempt={attempt} />
    </div>
  )
}

function Attempts({
  shown,
  delivery,
  chosen,
  onChoose,
}: {
  shown: Shown
  delivery: Delivery
  chosen: number | undefined
  onChoose: (number: number) => void
}) {
  const canManage = usePermission('manage webhooks')
  const redeliver = useAct('deliveries.redeliver', { says: 'Queued. It goes out at once, with the current secret.' })
  const { endpoint_id, event_id, endpoint_state } = delivery
  return (
    <div className={classes.attempts}>
      {shown.attempts.toReversed().map((attempt) => (
        <UnstyledButton
          key={attempt.number}
          className={classes.attempt}
          data-on={attempt.number === chosen || undefined}
          aria-pressed={attempt.number === chosen}
          onClick={() => onChoose(attempt.number)}
        >
          {isDelivered(attempt) ? (
            <IconCircleCheck size={16} className="text-ok" />
          ) : (
            <IconCircleX size={16} className="text-decline" />
          )}
          <span>
            Attempt {attempt.number} <Time at={attempt.started_at} />
          </span>
          <span className={isDelivered(attempt) ? undefined : 'text-decline'}>{attempt.status ?? 'none'}</span>
        </UnstyledButton>
      ))}
      {shown.next_attempt_at && endpoint_state === 'enabled' && (
        <div className={classes.next}>
          <IconClock size={16} /> Attempt {shown.attempts.length + 1} <Time at={shown.next_attempt_at} />
        </div>
      )}
      {canManage && endpoint_state === 'enabled' && (
        <Button
          variant="default"
          size="xs"
          leftSection={<IconRestore size={14} stroke={1.75} />}
          loading={redeliver.isPending}
          onClick={() => redeliver.mutate({ endpoint_id, event_id })}
        >
          Redeliver now
        </Button>
      )}
      {canManage && endpoint_state === 'disabled' && (
        <p className="small dim">
          <PageLink to={`webhooks/${endpoint_id}`}>Enable the endpoint</PageLink> to redeliver.
        </p>
      )}
    </div>
  )
}

function Message({ shown, attempt }: { shown: Shown; attempt: Attempt | undefined }) {
  const [part, setPart] = useState('Body')
  return (
    <div>
      <div className={classes.messageHead}>
        <SegmentedControl
          aria-label="Part of the attempt"
          data={['Headers', 'Body', 'Answer']}
          value={part}
          onChange={setPart}
        />
        {attempt && <span className="small dim">{took(attempt)}</span>}
      </div>
      {part === 'Headers' && <CodeBlock plain code={headersOf(attempt)} />}
      {part === 'Body' && <CodeBlock code={pretty(shown.body)} />}
      {part === 'Answer' && <CodeBlock plain code={answerOf(attempt)} />}
    </div>
  )
}

function took({ status, response, duration_ms }: Attempt): string {
  if (status === null) return `no answer in ${writeAnswerTime(duration_ms)}`
  const bytes = new TextEncoder().encode(response ?? '').length
  return `${writeCount(bytes)} ${bytes === 1 ? 'byte' : 'bytes'} back in ${writeAnswerTime(duration_ms)}`
}

function headersOf(attempt: Attempt | undefined): string {
  if (!attempt) return 'Nothing was sent yet.'
  if (attempt.headers === null) return 'Nothing was sent in this attempt.'
  return Object.entries(attempt.headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

function answerOf(attempt: Attempt | undefined): string {
  if (!attempt) return 'There is no answer yet.'
  if (attempt.status === null) return attempt.error ?? 'There was no answer.'
  return attempt.response ? `${attempt.status}\n\n${attempt.response}` : `${attempt.status}, without a body`
}

/** The body with line breaks for reading; on the wire it has none. */
function pretty(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2)
}

function isDelivered({ status }: Attempt): boolean {
  return status !== null && status >= 200 && status < 300
}
