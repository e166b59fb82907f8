import { Button } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { ApiError } from '../api/api-error.ts'
import { CopyableId } from './copyable-id.tsx'
import classes from './failed.module.css'

/** Says that a part of the page could not be read, why, and offers to try again. The rest of the page stays. */
export function Failed({
  what = 'This could not be read',
  error,
  onRetry,
}: {
  /** Which part: "These rows could not be read". */
  what?: string
  error: Error
  onRetry?: () => void
}) {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <div role="alert" className={classes.failed}>
      <IconAlertTriangle size={20} stroke={1.75} />
      <div className={classes.words}>
        <div className="strong">{what}</div>
        <div>{error.message}</div>
        {requestId && (
          <div className="small">
            Request <CopyableId id={requestId} />
          </div>
        )}
      </div>
      {onRetry && (
        <Button variant="default" size="xs" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** A whole page that failed, without the frame around it. */
export function FailedPage({ error }: { error: unknown }) {
  return (
    <main>
      <FailedContent error={error} />
    </main>
  )
}

/** What the error boundary of the router shows in the place of a page; the frame around it stays. */
export function FailedContent({ error }: { error: unknown }) {
  return (
    <div className={classes.page}>
      <h1>This page could not be shown</h1>
      <Failed
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => window.location.reload()}
      />
      <p className="dim small">
        If it stays like this, the server’s log has more under the request id. <a href="/">Go to the start page</a>
      </p>
    </div>
  )
}
