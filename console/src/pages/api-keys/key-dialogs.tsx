import { Modal } from '@mantine/core'
import { useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { useAct } from '../../api/use-operation.ts'
import { ChoiceCards } from '../../components/choice-cards.tsx'
import { AskReason, ReasonForm } from '../../drafts/ask-reason.tsx'
import { ConfirmByTyping } from '../../drafts/confirm-by-typing.tsx'
import type { RevealedKey } from './key-reveal.tsx'

/** An API key as the list has it. */
export type ListedKey = OutputOf<'api-keys.list'>['keys'][number]

/** What an operator is about to do with a key. */
export interface KeyAct {
  name: 'rotate' | 'disable' | 'enable' | 'revoke'
  key: ListedKey
}

type Grace = 'now' | '1h' | '24h' | '7d'

const GRACES: readonly { value: Grace; name: string; consequence: string }[] = [
  { value: '24h', name: 'Both work for 24 hours', consequence: 'For a planned change.' },
  { value: '7d', name: 'Both work for 7 days', consequence: 'When several teams have to change it.' },
  { value: '1h', name: 'Both work for an hour', consequence: 'When you change it right now.' },
  {
    value: 'now',
    name: 'End the old one now',
    consequence: 'If it leaked. Calls fail until the program has the new one.',
  },
]

/** The dialogs of what can be done with a key: one is open at a time. */
export function KeyDialogs({
  act,
  onClose,
  onRotated,
}: {
  act: KeyAct | undefined
  onClose: () => void
  onRotated: (key: RevealedKey) => void
}) {
  const named = act ? `“${act.key.name}” (…${act.key.last_four})` : ''
  const disable = useAct('api-keys.disable', { says: `Disabled ${named}.`, onDone: onClose })
  const enable = useAct('api-keys.enable', { says: `Enabled ${named}.`, onDone: onClose })
  const revoke = useAct('api-keys.revoke', { says: `Revoked ${named}.`, onDone: onClose })
  const id = act?.key.id ?? ''
  return (
    <>
      <Modal opened={act?.name === 'rotate'} onClose={onClose} title={`Rotate “${act?.key.name ?? ''}”`} size={520}>
        {act && <RotateForm apiKey={act.key} onClose={onClose} onRotated={onRotated} />}
      </Modal>
      <AskReason
        opened={act?.name === 'disable'}
        onClose={onClose}
        title="Disable this key"
        explanation={`Calls with ${named} are refused within a second, until you enable it again.`}
        act="Disable key"
        isDanger
        about={`disable ${id}`}
        sending={disable}
        onConfirm={(reason, draft) => disable.mutate({ id, reason }, { draft })}
      />
      <AskReason
        opened={act?.name === 'enable'}
        onClose={onClose}
        title="Enable this key"
        explanation={`Calls with ${named} work again.`}
        act="Enable key"
        about={`enable ${id}`}
        sending={enable}
        onConfirm={(reason, draft) => enable.mutate({ id, reason }, { draft })}
      />
      <ConfirmByTyping
        opened={act?.name === 'revoke'}
        onClose={onClose}
        title="Revoke this key for good"
        word={act?.key.name ?? ''}
        act="Revoke key"
        about={`revoke ${id}`}
        sending={revoke}
        onConfirm={(reason, draft) => revoke.mutate({ id, reason }, { draft })}
      >
        Calls with {named} are refused within a second, and it can never be enabled again. To keep the choice, disable
        it instead.
      </ConfirmByTyping>
    </>
  )
}

function RotateForm({
  apiKey,
  onClose,
  onRotated,
}: {
  apiKey: ListedKey
  onClose: () => void
  onRotated: (key: RevealedKey) => void
}) {
  const [grace, setGrace] = useState<Grace>('24h')
  const rotate = useAct('api-keys.rotate', { onDone: onRotated })
  return (
    <ReasonForm
      onClose={onClose}
      explanation="You get a new key now, shown once, with the same name, scopes and lifetime."
      act="Rotate and show key"
      word={grace === 'now' ? apiKey.name : undefined}
      about={`rotate ${apiKey.id}`}
      sending={rotate}
      onConfirm={(reason, draft) => rotate.mutate({ id: apiKey.id, grace, reason }, { draft })}
    >
      <ChoiceCards
        label="When does the old key end?"
        isReadOnly={rotate.isPending}
        value={grace}
        onChange={setGrace}
        choices={GRACES}
      />
    </ReasonForm>
  )
}
