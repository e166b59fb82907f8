import type { ReactNode } from 'react'
import { isOutage } from '../api/outage.ts'

/** What the button of an act says; after an outage that it tries again, under the same idempotency key. */
export function ActLabel({ error, children }: { error: Error | null; children: ReactNode }) {
  if (!isOutage(error)) return children
  return (
    <>
      Try again: {typeof children === 'string' ? `${children.slice(0, 1).toLowerCase()}${children.slice(1)}` : children}
    </>
  )
}
