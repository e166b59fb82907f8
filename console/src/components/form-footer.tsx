import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { DialogFooter } from './dialog-footer.tsx'

/** The buttons at the end of a form in a dialog: one that leaves things as they are, and one that submits. */
export function FormFooter({
  onClose,
  dismiss = 'Cancel',
  act,
  isBusy = false,
  isReady = true,
  isDanger = false,
}: {
  onClose: () => void
  dismiss?: string
  /** The verb of the button that submits: "Disable key". */
  act: ReactNode
  isBusy?: boolean
  /** False while a field is not complete. */
  isReady?: boolean
  isDanger?: boolean
}) {
  return (
    <DialogFooter>
      <Button variant="default" onClick={onClose}>
        {dismiss}
      </Button>
      <Button type="submit" loading={isBusy} disabled={!isReady} data-danger={isDanger || undefined}>
        {act}
      </Button>
    </DialogFooter>
  )
}
