import { Modal } from '@mantine/core'
import type { FormEvent } from 'react'
import { useAct } from '../../api/use-operation.ts'
import { FormError } from '../../components/form-error.tsx'
import { FormFooter } from '../../components/form-footer.tsx'
import { DraftNotice } from '../../drafts/draft-notice.tsx'
import { EndpointFields } from './endpoint-fields.tsx'
import { useFieldsDraft } from './use-fields-draft.ts'
import classes from './webhooks.module.css'

/** Asks for the URL and the events of a new endpoint. */
export function AddEndpointDialog({
  opened,
  onClose,
  onAdded,
}: {
  opened: boolean
  onClose: () => void
  onAdded: (endpoint: { id: string; secret: string }) => void
}) {
  return (
    <Modal opened={opened} onClose={onClose} title="Add an endpoint" size={560}>
      <AddForm onClose={onClose} onAdded={onAdded} />
    </Modal>
  )
}

function AddForm({
  onClose,
  onAdded,
}: {
  onClose: () => void
  onAdded: (endpoint: { id: string; secret: string }) => void
}) {
  const { fields, change, draft } = useFieldsDraft('new endpoint', { url: '', description: '', event_types: 'all' })
  const add = useAct('webhooks.add', { onDone: onAdded, showsErrors: true })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate(fields, { draft })
  }
  const isReady = fields.url.trim() !== '' && fields.event_types.length > 0
  return (
    <form onSubmit={submit}>
      <div className={classes.form}>
        <DraftNotice draft={draft} />
        <EndpointFields fields={fields} isReadOnly={add.isPending} onChange={change} />
        <FormError error={add.error} />
      </div>
      <FormFooter onClose={onClose} act="Add and show secret" sending={add} isRetry={draft.isRetry} isReady={isReady} />
    </form>
  )
}
