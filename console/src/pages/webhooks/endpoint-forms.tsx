import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAct } from '../../api/use-operation.ts'
import { ChoiceCards } from '../../components/choice-cards.tsx'
import { FormError } from '../../components/form-error.tsx'
import { writeCount } from '../../components/write-number.ts'
import { writeTime } from '../../components/write-time.ts'
import { ReasonForm } from '../../drafts/ask-reason.tsx'
import { DraftNotice } from '../../drafts/draft-notice.tsx'
import { addressOf } from '../deliveries/delivery.ts'
import { EndpointFields, type Fields } from './endpoint-fields.tsx'
import type { Endpoint } from './endpoint-state.tsx'
import { useFieldsDraft } from './use-fields-draft.ts'
import classes from './webhooks.module.css'

/** A secret that a rotation made. */
export interface NewSecret {
  secret: string
  previous_secret_until: string | null
}

interface FormProps {
  endpoint: Endpoint
  onClose: () => void
}

const DAY_MS = 86_400_000

/** Changes the URL, the description or the events; sends only what differs. */
export function EditForm({ endpoint, onClose }: FormProps) {
  const before: Fields = {
    url: '',
    description: endpoint.description,
    event_types: endpoint.event_types as Fields['event_types'],
  }
  const { fields, change, draft: kept } = useFieldsDraft(`fields ${endpoint.id}`, before)
  const edit = useAct('webhooks.edit', {
    says: 'Saved.',
    onDone() {
      kept.discard()
      onClose()
    },
    showsErrors: true,
  })
  const changes = changesOf(before, fields)
  return (
    <ReasonForm
      onClose={onClose}
      explanation="Changes hold for every attempt that starts a second later."
      act="Save changes"
      about={`edit ${endpoint.id}`}
      sending={edit}
      isReady={Object.keys(changes).length > 0 && fields.event_types.length > 0}
      onConfirm={(reason, draft) => edit.mutate({ id: endpoint.id, reason, ...changes }, { draft })}
    >
      <DraftNotice draft={kept} />
      <EndpointFields
        fields={fields}
        isReadOnly={edit.isPending}
        onChange={change}
        urlHint={`Leave it empty to keep ${addressOf(endpoint.url)}. Deliveries that wait go to the new one.`}
      />
      <FormError error={edit.error} />
    </ReasonForm>
  )
}

function changesOf(before: Fields, after: Fields): Partial<Fields> {
  const url = after.url.trim()
  const description = after.description.trim()
  return {
    ...(url && { url }),
    ...(description !== before.description && { description }),
    ...(namesOf(after) !== namesOf(before) && { event_types: after.event_types }),
  }
}

/** The chosen types as one text, whatever their order. */
function namesOf({ event_types }: Fields): string {
  return event_types === 'all' ? 'all' : event_types.toSorted().join(' ')
}

/** Makes another secret, beside the old one for a day or in its place. */
export function RotateForm({ endpoint, onClose, onRotated }: FormProps & { onRotated: (secret: NewSecret) => void }) {
  const [overlap, setOverlap] = useState<'day' | 'none'>('day')
  const [until] = useState(() => new Date(Date.now() + DAY_MS).toISOString())
  const rotate = useAct('webhooks.rotate-secret', { onDone: onRotated })
  return (
    <ReasonForm
      onClose={onClose}
      explanation="You get a new secret now, shown once. Your receiver may accept either until the overlap ends."
      act="Rotate and show secret"
      word={overlap === 'none' ? new URL(endpoint.url).host : undefined}
      about={`rotate ${endpoint.id}`}
      sending={rotate}
      onConfirm={(reason, draft) => rotate.mutate({ id: endpoint.id, overlap: overlap === 'day', reason }, { draft })}
    >
      <ChoiceCards
        label="When does the old secret end?"
        isReadOnly={rotate.isPending}
        value={overlap}
        onChange={setOverlap}
        choices={[
          { value: 'day', name: 'Both sign for 24 hours', consequence: 'For a planned change. You can end it early.' },
          {
            value: 'none',
            name: 'End the old one now',
            consequence: 'If it leaked. Deliveries fail until your receiver has the new one.',
          },
        ]}
      />
      <div className={classes.overlap} aria-hidden="true">
        <div className={classes.oldBar} data-ends-now={overlap === 'none' || undefined}>
          old ··{endpoint.secret_last_four}
        </div>
        <div className={classes.newBar}>new</div>
        <div className={classes.mark} style={{ gridColumn: 2 }}>
          now
        </div>
        {overlap === 'day' && (
          <div className={classes.mark} style={{ gridColumn: 3 }}>
            {writeTime(until, 'date-time')}
          </div>
        )}
      </div>
    </ReasonForm>
  )
}

/** Sends again what did not arrive since a moment: when the endpoint began to fail, or a day ago. */
export function RecoverForm({ endpoint, onClose }: FormProps) {
  const [since, setSince] = useState(() =>
    localMinute(endpoint.failing_since ?? new Date(Date.now() - DAY_MS).toISOString()),
  )
  const recover = useAct('deliveries.recover', {
    says: ({ queued }) => `Queued ${writeCount(queued)} ${queued === 1 ? 'delivery' : 'deliveries'}.`,
    onDone: onClose,
    showsErrors: true,
  })
  return (
    <ReasonForm
      onClose={onClose}
      explanation="Sends every event since then that failed, waits for another attempt, or was written while the endpoint was disabled. What arrived is not sent again."
      act="Recover"
      about={`recover ${endpoint.id}`}
      sending={recover}
      isReady={since !== ''}
      onConfirm={(reason, draft) =>
        recover.mutate({ endpoint_id: endpoint.id, since: new Date(since).toISOString(), reason }, { draft })
      }
    >
      <TextInput
        label="Since"
        description="In your time zone."
        type="datetime-local"
        required
        readOnly={recover.isPending}
        value={since}
        onChange={(event) => setSince(event.currentTarget.value)}
        data-autofocus
      />
      <FormError error={recover.error} />
    </ReasonForm>
  )
}

/** A moment as a field of the type `datetime-local` wants it, to the minute before it. */
function localMinute(at: string): string {
  const moment = new Date(at)
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}
