import { Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { useAct } from '../../api/use-operation.ts'
import { FormError } from '../../components/form-error.tsx'
import { FormFooter } from '../../components/form-footer.tsx'
import { RoleChoices } from './role-choices.tsx'
import classes from './team.module.css'
import type { RoleChoice } from './teammate.ts'

/** An invitation with its link, which is shown once. */
export type SentInvitation = OutputOf<'team.invite'>

/** Asks whom to invite, and as what. */
export function InviteDialog({
  opened,
  onClose,
  ...props
}: {
  opened: boolean
  onClose: () => void
  roles: readonly RoleChoice[]
  onInvited: (invitation: SentInvitation) => void
}) {
  return (
    <Modal opened={opened} onClose={onClose} title="Invite a person" size={560}>
      <InviteForm onClose={onClose} {...props} />
    </Modal>
  )
}

function InviteForm({
  onClose,
  roles,
  onInvited,
}: {
  onClose: () => void
  roles: readonly RoleChoice[]
  onInvited: (invitation: SentInvitation) => void
}) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<RoleChoice['role']>('viewer')
  const invite = useAct('team.invite', { onDone: onInvited, showsErrors: true })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate({ name: name.trim(), email: email.trim(), role })
  }
  return (
    <form onSubmit={submit}>
      <div className={classes.form}>
        <TextInput
          label="Name"
          required
          maxLength={255}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <TextInput
          label="E-mail"
          type="email"
          description="Their account gets this address. The console sends no mail: you hand over the link."
          required
          maxLength={254}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <RoleChoices label="Role" roles={roles} value={role} onChange={setRole} />
        <FormError error={invite.error} />
      </div>
      <FormFooter
        onClose={onClose}
        act="Make and show link"
        isBusy={invite.isPending}
        isReady={name.trim() !== '' && email.trim() !== ''}
      />
    </form>
  )
}
