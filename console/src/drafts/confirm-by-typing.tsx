import type { ReactNode } from 'react'
import type { Sendable } from '../api/use-sending.ts'
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
  /** The act and its object, under which the browser keeps the reason. */
  about: string
  /** The act that the form sends. */
  sending: { isPending: boolean; error: Error | null }
  onConfirm: (reason: string, draft: Sendable) => void
}) {
  return <AskReason {...dialog} explanation={children} />
}
