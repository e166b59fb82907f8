import { Modal, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import type { Sendable } from '../api/use-sending.ts'
import { FormFooter } from '../components/form-footer.tsx'
import { ReasonField } from '../components/reason-field.tsx'
import classes from '../components/reveal.module.css'
import { DraftNotice } from './draft-notice.tsx'
import { useDraft } from './use-draft.ts'

/** What a form that asks for a reason needs. */
interface ReasonFormProps {
  /** The act and its object, such as `disable key_1`: under this name the browser keeps what was typed. */
  about: string
  /** The act that the form sends. */
  sending: { isPending: boolean; error: Error | null }
  onClose: () => void
  /** What happens. */
  explanation: ReactNode
  /** The verb of the button: "Disable key". */
  act: ReactNode
  /** What the caller has to type first, where the act is final: the name of the thing. */
  word?: string | undefined
  isDanger?: boolean
  /** True where the act may be recorded without a reason, which is then an empty text. */
  isReasonOptional?: boolean
  /** What the button says that leaves things as they are. */
  dismiss?: string
  /** False while the fields among the children are not complete. */
  isReady?: boolean
  onConfirm: (reason: string, draft: Sendable) => void
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

/** The content of such a dialog: it is mounted while the dialog is open. What has to be typed to confirm is not kept. */
export function ReasonForm({
  about,
  sending,
  onClose,
  explanation,
  act,
  word,
  isDanger = false,
  isReasonOptional = false,
  dismiss = 'Cancel',
  isReady = true,
  onConfirm,
  children,
}: ReasonFormProps) {
  const draft = useDraft(`reason ${about}`, '')
  const reason = draft.value
  const [typed, setTyped] = useState('')
  const hasReason = isReasonOptional || reason.trim() !== ''
  const mayConfirm = isReady && hasReason && (word === undefined || typed.trim() === word)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (mayConfirm) onConfirm(reason.trim(), draft)
  }
  return (
    <form onSubmit={submit}>
      <div className={classes.reveal}>
        <DraftNotice draft={draft} />
        <p className="secondary">{explanation}</p>
        {children}
        <ReasonField
          value={reason}
          onChange={draft.change}
          isOptional={isReasonOptional}
          isReadOnly={sending.isPending}
          hasFocus={!children}
        />
        {word !== undefined && (
          <TextInput
            label={
              <>
                Type <code>{word}</code> to confirm
              </>
            }
            autoComplete="off"
            spellCheck={false}
            readOnly={sending.isPending}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        )}
      </div>
      <FormFooter
        onClose={onClose}
        dismiss={dismiss}
        act={act}
        sending={sending}
        isRetry={draft.isRetry}
        isReady={mayConfirm}
        isDanger={isDanger || word !== undefined}
      />
    </form>
  )
}
