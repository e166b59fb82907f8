import { Modal } from '@mantine/core'
import { useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { useAccountAct } from '../../api/use-operation.ts'
import { CopyableId } from '../../components/copyable-id.tsx'
import { FormError } from '../../components/form-error.tsx'
import { FormFooter } from '../../components/form-footer.tsx'
import { OneTimeCodeField } from '../entry/one-time-code-field.tsx'
import classes from './account-page.module.css'
import { QrCode } from './qr-code.tsx'

type App = OutputOf<'account.two-factor-begin'>

/** The dialog that adds an authenticator app: its QR code, and the first code as proof. */
export function EnrolApp({
  app,
  onClose,
  onDone,
}: {
  /** Undefined while there is none to add. */
  app: App | undefined
  onClose: () => void
  onDone: (recoveryCodes: string[]) => void
}) {
  return (
    <Modal opened={app !== undefined} onClose={onClose} title="Add your authenticator app" size={520}>
      {app && <EnrolForm app={app} onClose={onClose} onDone={onDone} />}
    </Modal>
  )
}

function EnrolForm({
  app,
  onClose,
  onDone,
}: {
  app: App
  onClose: () => void
  onDone: (recoveryCodes: string[]) => void
}) {
  const [code, setCode] = useState('')
  const confirm = useAccountAct('account.two-factor-confirm', {
    showsErrors: true,
    onDone: ({ recovery_codes }) => onDone(recovery_codes),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        confirm.mutate({ code })
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
        <OneTimeCodeField label="Code that the app shows now" data-autofocus value={code} onChange={setCode} />
        <FormError error={confirm.error} />
      </div>
      <FormFooter onClose={onClose} act="Turn on two-factor" sending={confirm} />
    </form>
  )
}
