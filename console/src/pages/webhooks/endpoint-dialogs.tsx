import { Modal } from '@mantine/core'
import { useAct } from '../../api/use-operation.ts'
import { AskReason } from '../../drafts/ask-reason.tsx'
import { ConfirmByTyping } from '../../drafts/confirm-by-typing.tsx'
import { addressOf } from '../deliveries/delivery.ts'
import { EditForm, type NewSecret, RecoverForm, RotateForm } from './endpoint-forms.tsx'
import type { Endpoint } from './endpoint-state.tsx'

/** What an operator is about to do with an endpoint. */
export type EndpointAct = 'edit' | 'rotate' | 'end-overlap' | 'disable' | 'enable' | 'remove' | 'recover'

interface DialogsProps {
  endpoint: Endpoint
  act: EndpointAct | undefined
  onClose: () => void
  onRotated: (secret: NewSecret) => void
}

/** The dialogs of what can be done with an endpoint: one is open at a time. */
export function EndpointDialogs({
  endpoint,
  act,
  onClose,
  onRotated,
  onRemoved,
}: DialogsProps & { onRemoved: () => void }) {
  const { id } = endpoint
  const { host } = new URL(endpoint.url)
  const address = addressOf(endpoint.url)
  const disable = useAct('webhooks.disable', { says: `Disabled ${address}.`, onDone: onClose })
  const enable = useAct('webhooks.enable', { says: `Enabled ${address}.`, onDone: onClose })
  const endOverlap = useAct('webhooks.end-overlap', { says: 'Only the newest secret signs now.', onDone: onClose })
  const remove = useAct('webhooks.remove', { says: `Removed ${address}.`, onDone: onRemoved })
  return (
    <>
      <FormDialogs endpoint={endpoint} act={act} onClose={onClose} onRotated={onRotated} />
      <ConfirmByTyping
        opened={act === 'end-overlap'}
        onClose={onClose}
        title="End the overlap now"
        word={host}
        act="End overlap"
        about={`end the overlap ${id}`}
        sending={endOverlap}
        onConfirm={(reason, draft) => endOverlap.mutate({ id, reason }, { draft })}
      >
        The previous secret stops signing for good. A receiver that still has only that one refuses what is sent.
      </ConfirmByTyping>
      <AskReason
        opened={act === 'disable'}
        onClose={onClose}
        title="Disable this endpoint"
        explanation="Nothing is sent until you enable it again. What waits is kept; new events are not queued, but you can recover them."
        act="Disable endpoint"
        isDanger
        about={`disable ${id}`}
        sending={disable}
        onConfirm={(reason, draft) => disable.mutate({ id, reason }, { draft })}
      />
      <AskReason
        opened={act === 'enable'}
        onClose={onClose}
        title="Enable this endpoint"
        explanation="What waits is sent at once. Recover the events that were written while it was disabled."
        act="Enable endpoint"
        about={`enable ${id}`}
        sending={enable}
        onConfirm={(reason, draft) => enable.mutate({ id, reason }, { draft })}
      />
      <ConfirmByTyping
        opened={act === 'remove'}
        onClose={onClose}
        title="Remove this endpoint for good"
        word={host}
        act="Remove endpoint"
        about={`remove ${id}`}
        sending={remove}
        onConfirm={(reason, draft) => remove.mutate({ id, reason }, { draft })}
      >
        Its URL and secrets are erased and what waits is not sent. Past deliveries stay listed until their retention
        ends.
      </ConfirmByTyping>
    </>
  )
}

function FormDialogs({ endpoint, act, onClose, onRotated }: DialogsProps) {
  return (
    <>
      <Modal opened={act === 'edit'} onClose={onClose} title="Edit this endpoint" size={520}>
        <EditForm endpoint={endpoint} onClose={onClose} />
      </Modal>
      <Modal opened={act === 'rotate'} onClose={onClose} title="Rotate the signing secret" size={520}>
        <RotateForm endpoint={endpoint} onClose={onClose} onRotated={onRotated} />
      </Modal>
      <Modal opened={act === 'recover'} onClose={onClose} title="Recover deliveries" size={520}>
        <RecoverForm endpoint={endpoint} onClose={onClose} />
      </Modal>
    </>
  )
}
