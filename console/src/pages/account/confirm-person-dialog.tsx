import { Modal, PasswordInput, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { FormError } from '../../components/form-error.tsx'
import { FormFooter } from '../../components/form-footer.tsx'
import classes from './account-page.module.css'

/** A dialog that asks for the password or a code before a change of how one signs in. */
export function ConfirmPersonDialog({
  asks,
  opened,
  title,
  act,
  isDanger = false,
  isBusy,
  error,
  onClose,
  onConfirm,
  children,
}: {
  asks: 'password' | 'code'
  opened: boolean
  title: string
  /** The verb of the button. */
  act: string
  isDanger?: boolean
  isBusy: boolean
  error: Error | null
  onClose: () => void
  onConfirm: (typed: string) => void
  children: ReactNode
}) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} size={440}>
      <ConfirmForm
        asks={asks}
        act={act}
        isDanger={isDanger}
        isBusy={isBusy}
        error={error}
        onClose={onClose}
        onConfirm={onConfirm}
      >
        {children}
      </ConfirmForm>
    </Modal>
  )
}

function ConfirmForm({
  asks,
  act,
  isDanger,
  isBusy,
  error,
  onClose,
  onConfirm,
  children,
}: Omit<Parameters<typeof ConfirmPersonDialog>[0], 'opened' | 'title'>) {
  const [typed, setTyped] = useState('')
  const field = {
    required: true,
    withAsterisk: false,
    'data-autofocus': true,
    readOnly: isBusy,
    value: typed,
    onChange: (event: { currentTarget: HTMLInputElement }) => setTyped(event.currentTarget.value),
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onConfirm(typed)
      }}
    >
      <div className={classes.dialog}>
        <div className="secondary">{children}</div>
        {asks === 'password' ? (
          <PasswordInput
            label="Your password"
            autoComplete="current-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show the password', tabIndex: 0 }}
            {...field}
          />
        ) : (
          <TextInput
            label="Code of your app, or a recovery code"
            autoComplete="one-time-code"
            minLength={6}
            maxLength={20}
            {...field}
          />
        )}
        <FormError error={error} />
      </div>
      <FormFooter onClose={onClose} act={act} sending={{ isPending: isBusy, error }} isDanger={isDanger} />
    </form>
  )
}
