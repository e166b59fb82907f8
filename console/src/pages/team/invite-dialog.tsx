import { Modal, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { useAct } from '../../api/use-operation.ts'
import { FormError } from '../../components/form-error.tsx'
import { FormFooter } from '../../components/form-footer.tsx'
import { DraftNotice } from '../../drafts/draft-notice.tsx'
import { useDraft } from '../../drafts/use-draft.ts'
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
  const draft = useDraft('invite', { name: '', email: '', role: 'viewer' as RoleChoice['role'] })
  const { name, email, role } = draft.value
  const invite = useAct('team.invite', { onDone: onInvited, showsErrors: true })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate({ name: name.trim(), email: email.trim(), role }, { draft })
  }
  return (
    <form onSubmit={submit}>
      <div className={classes.form}>
        <DraftNotice draft={draft} />
        <TextInput
          label="Name"
          required
          maxLength={255}
          readOnly={invite.isPending}
          value={name}
          onChange={(event) => draft.change({ ...draft.value, name: event.currentTarget.value })}
          data-autofocus
        />
        <TextInput
          label="E-mail"
          type="email"
          description="Their account gets this address. The console sends no mail: you hand over the link."
          required
          maxLength={254}
          readOnly={invite.isPending}
          value={email}
          onChange={(event) => draft.change({ ...draft.value, email: event.currentTarget.value })}
        />
        <RoleChoices
          label="Role"
          roles={roles}
          isReadOnly={invite.isPending}
          value={role}
          onChange={(next) => draft.change({ ...draft.value, role: next })}
        />
        <FormError error={invite.error} />
      </div>
      <FormFooter
        onClose={onClose}
        act="Make and show link"
        sending={invite}
        isRetry={draft.isRetry}
        isReady={name.trim() !== '' && email.trim() !== ''}
      />
    </form>
  )
}
