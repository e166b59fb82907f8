import { Button } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { ApiError } from '../api/api-error.ts'
import { CopyableId } from './copyable-id.tsx'
import classes from './failed.module.css'

/** Says that a part of the page could not be loaded, why, and offers to try again. */
export function Failed({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <div role="alert" className={classes.failed}>
      <IconAlertTriangle size={20} stroke={1.75} />
      <div className={classes.words}>
        <div className="strong">This could not be loaded</div>
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

/** A whole page that failed: what the error boundary of the router shows. */
export function FailedPage({ error }: { error: unknown }) {
  return (
    <main className={classes.page}>
      <h1>This page could not be shown</h1>
      <Failed
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => window.location.reload()}
      />
      <p className="dim small">
        If it stays like this, the server’s log has more under the request id. <a href="/">Go to the start page</a>
      </p>
    </main>
  )
}
