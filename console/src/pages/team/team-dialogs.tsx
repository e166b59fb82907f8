import { Modal } from '@mantine/core'
import type { FormEvent } from 'react'
import { useAct } from '../../api/use-operation.ts'
import { FormError } from '../../components/form-error.tsx'
import { FormFooter } from '../../components/form-footer.tsx'
import { ReasonField } from '../../components/reason-field.tsx'
import { Banner } from '../../components/state-badge.tsx'
import { AskReason } from '../../drafts/ask-reason.tsx'
import { ConfirmByTyping } from '../../drafts/confirm-by-typing.tsx'
import { DraftNotice } from '../../drafts/draft-notice.tsx'
import { useDraft } from '../../drafts/use-draft.ts'
import { roleName } from '../../shell/role-name.ts'
import { RoleChoices } from './role-choices.tsx'
import { SessionsDialog } from './sessions-dialog.tsx'
import classes from './team.module.css'
import type { RoleChoice, Teammate } from './teammate.ts'

/** What an operator is about to do with another. */
export interface TeamAct {
  name: 'role' | 'sessions' | 'withdraw' | 'remove'
  teammate: Teammate
}

/** The dialogs of what can be done with an operator: one is open at a time. */
export function TeamDialogs({
  act,
  roles,
  onClose,
}: {
  act: TeamAct | undefined
  roles: readonly RoleChoice[]
  onClose: () => void
}) {
  const remove = useAct('team.remove', { says: ({ email }) => `Removed ${email}.`, onDone: onClose })
  const withdraw = useAct('team.withdraw-invitation', {
    says: `The link for ${act?.teammate.email} no longer works.`,
    onDone: onClose,
  })
  const teammate = act?.teammate
  return (
    <>
      <Modal
        opened={act?.name === 'role'}
        onClose={onClose}
        title={`Change the role of ${teammate?.name ?? ''}`}
        size={560}
      >
        {teammate && <RoleForm teammate={teammate} roles={roles} onClose={onClose} />}
      </Modal>
      <SessionsDialog teammate={act?.name === 'sessions' ? teammate : undefined} onClose={onClose} />
      <AskReason
        opened={act?.name === 'withdraw'}
        onClose={onClose}
        title={`Withdraw the invitation of ${teammate?.name ?? ''}`}
        explanation={`The link for ${teammate?.email ?? ''} stops working. You can make a new one later.`}
        act="Withdraw invitation"
        isDanger
        about={`withdraw ${teammate?.id}`}
        sending={withdraw}
        onConfirm={(reason, draft) => withdraw.mutate({ operator_id: teammate!.id, reason }, { draft })}
      />
      <ConfirmByTyping
        opened={act?.name === 'remove'}
        onClose={onClose}
        title={`Remove ${teammate?.name ?? ''}`}
        word={teammate?.email ?? ''}
        act="Remove operator"
        about={`remove ${teammate?.id}`}
        sending={remove}
        onConfirm={(reason, draft) => remove.mutate({ operator_id: teammate!.id, reason }, { draft })}
      >
        {teammate && <RemovalConsequences teammate={teammate} />}
      </ConfirmByTyping>
    </>
  )
}

function RemovalConsequences({ teammate }: { teammate: Teammate }) {
  return (
    <>
      {teammate.name} loses access at once: sessions end, and the invitation stops working. Their acts stay on the audit
      log.
      {teammate.has_approved_gate && ' Their approval of the live gate no longer counts, which closes the gate.'}
      {teammate.is_last_owner && ' The last owner cannot be removed: make another operator an owner first.'}
    </>
  )
}

function RoleForm({
  teammate,
  roles,
  onClose,
}: {
  teammate: Teammate
  roles: readonly RoleChoice[]
  onClose: () => void
}) {
  const draft = useDraft(`role ${teammate.id}`, { role: teammate.role, reason: '' })
  const { role, reason } = draft.value
  const change = useAct('team.change-role', {
    says: (output) => `${teammate.name} is ${roleName(output.role).toLowerCase()} from now on.`,
    onDone: onClose,
    showsErrors: true,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({ operator_id: teammate.id, role, reason: reason.trim() }, { draft })
  }
  return (
    <form onSubmit={submit}>
      <div className={classes.form}>
        <DraftNotice draft={draft} />
        <RoleChoices
          label="Role"
          roles={roles}
          isReadOnly={change.isPending}
          value={role}
          onChange={(next) => draft.change({ ...draft.value, role: next })}
        />
        {teammate.has_single_sign_on && (
          <Banner>Signs in through the identity provider: the next sign-in gives the role of the groups again.</Banner>
        )}
        <ReasonField
          value={reason}
          onChange={(next) => draft.change({ ...draft.value, reason: next })}
          isReadOnly={change.isPending}
        />
        <FormError error={change.error} />
      </div>
      <FormFooter
        onClose={onClose}
        act="Change role"
        sending={change}
        isRetry={draft.isRetry}
        isReady={reason.trim() !== '' && role !== teammate.role}
      />
    </form>
  )
}
