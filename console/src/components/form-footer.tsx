import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { isOutage } from '../api/outage.ts'
import { DialogFooter } from './dialog-footer.tsx'
import { RetryLabel } from './retry-label.tsx'

/** The buttons at the end of a form in a dialog: one that leaves things as they are, and one that submits. */
export function FormFooter({
  onClose,
  dismiss = 'Cancel',
  act,
  sending: { isPending, error },
  isRetry = isOutage(error),
  isReady = true,
  isDanger = false,
}: {
  onClose: () => void
  dismiss?: string
  /** The verb of the button that submits: "Disable key". */
  act: ReactNode
  /** The act that the form sends. */
  sending: { isPending: boolean; error: Error | null }
  /** Whether no answer came to the first try; a form with a draft knows it also after it was closed. */
  isRetry?: boolean
  /** False while a field is not complete. */
  isReady?: boolean
  isDanger?: boolean
}) {
  return (
    <DialogFooter>
      <Button variant="default" onClick={onClose}>
        {dismiss}
      </Button>
      <Button type="submit" loading={isPending} disabled={!isReady} data-danger={isDanger || undefined}>
        <RetryLabel isRetry={isRetry}>{act}</RetryLabel>
      </Button>
    </DialogFooter>
  )
}
