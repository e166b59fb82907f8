import { Modal } from '@mantine/core'
import { useState } from 'react'
import { CopyableId } from '../../components/copyable-id.tsx'
import { FormError } from '../../components/form-error.tsx'
import { FormFooter } from '../../components/form-footer.tsx'
import { OneTimeCodeField } from '../../entry/one-time-code-field.tsx'
import classes from './account-page.module.css'
import { QrCode } from './qr-code.tsx'

interface EnrolAppProps {
  /** The secret to add; undefined while there is none. */
  app: { secret: string; uri: string } | undefined
  /** The verb of the button. */
  act: string
  isBusy: boolean
  error: Error | null
  onClose: () => void
  onConfirm: (code: string) => void
}

/** The dialog that adds an authenticator app: its QR code, and the first code as proof. */
export function EnrolApp({ app, ...form }: EnrolAppProps) {
  return (
    <Modal opened={app !== undefined} onClose={form.onClose} title="Add your authenticator app" size={520}>
      {app && <EnrolForm app={app} {...form} />}
    </Modal>
  )
}

function EnrolForm({
  app,
  act,
  isBusy,
  error,
  onClose,
  onConfirm,
}: EnrolAppProps & { app: NonNullable<EnrolAppProps['app']> }) {
  const [code, setCode] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onConfirm(code)
      }}
    >
      <div className={classes.dialog}>
        <div className={classes.qr}>
          <QrCode text={app.uri} label="QR code for your authenticator app" />
          <div>
            <p className="secondary">Scan it with your authenticator app, or type this secret into the app:</p>
            <CopyableId id={app.secret} />
          </div>
        </div>
        <OneTimeCodeField
          label="Code that the app shows now"
          data-autofocus
          readOnly={isBusy}
          value={code}
          onChange={setCode}
        />
        <FormError error={error} />
      </div>
      <FormFooter onClose={onClose} act={act} sending={{ isPending: isBusy, error }} />
    </form>
  )
}
