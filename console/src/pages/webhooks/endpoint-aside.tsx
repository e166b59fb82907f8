import { Button } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import type { OutputOf } from '../../api/operation-types.ts'
import { useOperation } from '../../api/use-operation.ts'
import { CodeTabs } from '../../components/code-block.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { KeyValues, Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { writeAnswerTime } from '../../components/write-number.ts'
import type { EndpointAct } from './endpoint-dialogs.tsx'
import { type Endpoint, totalsOf, writeCountUpTo } from './endpoint-state.tsx'
import { VERIFICATION_SAMPLES } from './verification-samples.ts'
import classes from './webhooks.module.css'

/** The cards beside the deliveries: figures, events, the secret, and how to verify. */
export function EndpointAside({
  shown,
  onAct,
}: {
  shown: OutputOf<'webhooks.show'>
  onAct: ((act: EndpointAct) => void) | undefined
}) {
  const { endpoint, keep_days } = shown
  return (
    <div className={classes.column}>
      <FiguresCard endpoint={endpoint} keepDays={keep_days} onAct={onAct} />
      <EventsCard endpoint={endpoint} />
      <SecretCard endpoint={endpoint} onAct={onAct} />
      <Section title="Verify">
        <CodeTabs samples={VERIFICATION_SAMPLES} />
      </Section>
    </div>
  )
}

function FiguresCard({
  endpoint,
  keepDays,
  onAct,
}: {
  endpoint: Endpoint
  keepDays: number
  onAct: ((act: EndpointAct) => void) | undefined
}) {
  const { waiting, failed, counted_max, median_ms, description, state } = endpoint
  const count = (value: number, of: 'pending' | 'failed') =>
    value === 0 ? (
      '0'
    ) : (
      <PageLink to={`webhooks/${endpoint.id}`} search={{ state: of }}>
        {writeCountUpTo(counted_max, value)}
      </PageLink>
    )
  return (
    <Section
      title="Endpoint"
      end={
        onAct && (
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPencil size={14} stroke={1.75} />}
            onClick={() => onAct('edit')}
          >
            Edit
          </Button>
        )
      }
    >
      <KeyValues
        rows={[
          ...(description ? [['For', description] as const] : []),
          ['State', state === 'enabled' ? 'Enabled' : 'Disabled'],
          ['Delivered, 24 h', totalsOf(endpoint).share],
          ['Median answer', median_ms === null ? 'none yet' : writeAnswerTime(median_ms)],
          ['Waiting', count(waiting, 'pending')],
          [`Failed, ${keepDays} days`, count(failed, 'failed')],
        ]}
      />
    </Section>
  )
}

function EventsCard({ endpoint }: { endpoint: Endpoint }) {
  const { data } = useOperation('webhooks.show-catalogue', {})
  const types = endpoint.event_types
  return (
    <Section title="Events" end={types !== 'all' && data && `${types.length} of ${data.event_types.length}`}>
      {types === 'all' ? (
        <p>
          All types, including those that are added later, without <code>audit.checkpoint</code>.
        </p>
      ) : (
        <div className={classes.types}>
          {types.map((type) => (
            <code key={type}>{type}</code>
          ))}
        </div>
      )}
    </Section>
  )
}

function SecretCard({ endpoint, onAct }: { endpoint: Endpoint; onAct: ((act: EndpointAct) => void) | undefined }) {
  const { secret_last_four, secret_since, previous_secret_until: until } = endpoint
  const isOverlap = until !== null && Date.parse(until) > Date.now()
  return (
    <Section title="Signing secret">
      <div className={classes.secret}>
        <div className={classes.secretLine}>
          <code>whsec_········{secret_last_four}</code>
          <span className="dim">
            since <Time at={secret_since} as="date" />
          </span>
        </div>
        {isOverlap ? (
          <>
            <p className="secondary">
              The previous secret signs too until <Time at={until} />.
            </p>
            {onAct && (
              <Button variant="default" size="xs" onClick={() => onAct('end-overlap')}>
                End the overlap now…
              </Button>
            )}
          </>
        ) : (
          <p className="secondary">
            Shown once when it was made. Rotate it to get a new one; both sign until the overlap ends.
          </p>
        )}
      </div>
    </Section>
  )
}
