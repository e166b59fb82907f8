import { Button, Modal, PasswordInput } from '@mantine/core'
import { useState } from 'react'
import { useAccountAct } from '../../api/use-operation.ts'
import { FormError } from '../../components/form-error.tsx'
import { FormFooter } from '../../components/form-footer.tsx'
import { Section } from '../../components/section.tsx'
import { NewPasswordField } from '../../entry/new-password-field.tsx'
import classes from './account-page.module.css'

/** The password of the account. */
export function PasswordSection({ hasPassword }: { hasPassword: boolean }) {
  const [opened, setOpened] = useState(false)
  return (
    <Section title="Password">
      <div className={classes.row}>
        <div className="secondary">
          {hasPassword
            ? 'Changing it ends your sessions in all other browsers.'
            : 'Your account has no password: you sign in by passkey or single sign-on.'}
        </div>
        {hasPassword && (
          <Button variant="default" onClick={() => setOpened(true)}>
            Change password
          </Button>
        )}
      </div>
      <Modal opened={opened} onClose={() => setOpened(false)} title="Change password" size={440}>
        <PasswordForm onClose={() => setOpened(false)} />
      </Modal>
    </Section>
  )
}

function PasswordForm({ onClose }: { onClose: () => void }) {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const change = useAccountAct('account.change-password', {
    showsErrors: true,
    says: ({ sessions_ended }) =>
      sessions_ended === 0
        ? 'Your password is changed.'
        : `Your password is changed, and ${sessions_ended === 1 ? 'another session' : `${sessions_ended} other sessions`} ended.`,
    onDone: onClose,
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate({ current_password: current, new_password: next })
      }}
    >
      <div className={classes.dialog}>
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus
          readOnly={change.isPending}
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the current password', tabIndex: 0 }}
        />
        <NewPasswordField label="New password" isReadOnly={change.isPending} value={next} onChange={setNext} />
        <FormError error={change.error} />
      </div>
      <FormFooter onClose={onClose} act="Change password" sending={change} />
    </form>
  )
}
