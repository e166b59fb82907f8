import { notifications } from '@mantine/notifications'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { ApiError } from '../api/api-error.ts'
import type { Messages } from '../api/messages.ts'
import { CopyableId } from '../components/copyable-id.tsx'
import classes from './toasts.module.css'

const DONE_SHOWN_MS = 6_000

/** Tells that an act is done. The toast goes away by itself. */
function showDone(message: string): void {
  notifications.show({
    message,
    icon: <IconCheck size={14} stroke={2.5} />,
    autoClose: DONE_SHOWN_MS,
    closeButtonProps: { 'aria-label': 'Dismiss' },
    classNames: { root: classes.toast, icon: classes.doneIcon, description: classes.description },
  })
}

/** Tells that something failed, and under which request id the log has it. The toast stays until it is closed. */
function showError(error: Error): void {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  notifications.show({
    // The same failure twice is one toast.
    id: `error ${error.message}`,
    message: (
      <>
        <div>{error.message}</div>
        {requestId && (
          <div className={classes.request}>
            Request <CopyableId id={requestId} />
          </div>
        )}
      </>
    ),
    icon: <IconAlertTriangle size={14} />,
    autoClose: false,
    role: 'alert',
    closeButtonProps: { 'aria-label': 'Dismiss' },
    classNames: { root: classes.toast, icon: classes.errorIcon, description: classes.description },
  })
}

/** The messages of the page as toasts. */
export const TOASTS: Messages = { showDone, showError }
