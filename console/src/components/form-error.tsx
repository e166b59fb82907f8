import { IconAlertTriangle } from '@tabler/icons-react'
import type { ApiError } from '../api/api-error.ts'
import { isOutage } from '../api/outage.ts'
import { CopyableId } from './copyable-id.tsx'
import { Banner } from './state-badge.tsx'

/** A form may be longer than its window: what a key was refused for must not be out of sight. */
const scrollIntoView = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })

/** Why an act beside which it stands was refused; with the request id where the server failed. */
export function FormError({ error }: { error: ApiError | Error | null }) {
  if (!error) return null
  if (isOutage(error))
    return (
      <p role="status" className="small dim">
        The server did not answer. Try again: it is done once, also if the first try arrived.
      </p>
    )
  const requestId = 'requestId' in error && error.status >= 500 ? error.requestId : undefined
  return (
    <div role="alert" ref={scrollIntoView}>
      <Banner tone="bad" icon={<IconAlertTriangle size={16} stroke={1.75} />}>
        {error.message}
        {requestId && (
          <div>
            Request <CopyableId id={requestId} short />
          </div>
        )}
      </Banner>
    </div>
  )
}
