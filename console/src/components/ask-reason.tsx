import { Modal, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { FormFooter } from './form-footer.tsx'
import { ReasonField } from './reason-field.tsx'
import classes from './reveal.module.css'

/** What a form that asks for a reason needs. */
interface ReasonFormProps {
  onClose: () => void
  /** What happens. */
  explanation: ReactNode
  /** The verb of the button: "Disable key". */
  act: ReactNode
  /** What the caller has to type first, where the act is final: the name of the thing. */
  word?: string | undefined
  isDanger?: boolean
  isBusy?: boolean
  /** True where the act may be recorded without a reason, which is then an empty text. */
  isReasonOptional?: boolean
  /** What the button says that leaves things as they are. */
  dismiss?: string
  /** False while the fields among the children are not complete. */
  isReady?: boolean
  onConfirm: (reason: string) => void
  /** Fields of the act. */
  children?: ReactNode
}

/** A dialog for an act that goes on the audit log with a reason. Fields with state of their own go into a `ReasonForm`. */
export function AskReason({
  opened,
  title,
  ...form
}: { opened: boolean; title: string } & Omit<ReasonFormProps, 'children'>) {
  return (
    <Modal opened={opened} onClose={form.onClose} title={title} size={520}>
      <ReasonForm {...form} />
    </Modal>
  )
}

/** The content of such a dialog: it is mounted while the dialog is open, so each opening starts afresh. */
export function ReasonForm({
  onClose,
  explanation,
  act,
  word,
  isDanger = false,
  isBusy = false,
  isReasonOptional = false,
  dismiss = 'Cancel',
  isReady = true,
  onConfirm,
  children,
}: ReasonFormProps) {
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const hasReason = isReasonOptional || reason.trim() !== ''
  const mayConfirm = isReady && hasReason && (word === undefined || typed.trim() === word)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (mayConfirm) onConfirm(reason.trim())
  }
  return (
    <form onSubmit={submit}>
      <div className={classes.reveal}>
        <p className="secondary">{explanation}</p>
        {children}
        <ReasonField value={reason} onChange={setReason} isOptional={isReasonOptional} hasFocus={!children} />
        {word !== undefined && (
          <TextInput
            label={
              <>
                Type <code>{word}</code> to confirm
              </>
            }
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        )}
      </div>
      <FormFooter
        onClose={onClose}
        dismiss={dismiss}
        act={act}
        isBusy={isBusy}
        isReady={mayConfirm}
        isDanger={isDanger || word !== undefined}
      />
    </form>
  )
}
