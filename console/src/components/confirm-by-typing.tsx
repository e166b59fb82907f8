import type { ReactNode } from 'react'
import { AskReason } from './ask-reason.tsx'

/** Asks for an irreversible act: the caller types a word, and says why. */
export function ConfirmByTyping({
  children,
  ...dialog
}: {
  opened: boolean
  onClose: () => void
  title: string
  /** What happens, and that it cannot be undone. */
  children: ReactNode
  /** What the caller has to type: the name of the thing. */
  word: string
  /** The verb of the button: "Revoke key". */
  act: string
  isBusy?: boolean
  onConfirm: (reason: string) => void
}) {
  return <AskReason {...dialog} explanation={children} />
}
