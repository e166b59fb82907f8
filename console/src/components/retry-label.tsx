import type { ReactNode } from 'react'

/** What the button of an act says; that it tries again where no answer came to the first try. */
export function RetryLabel({ isRetry, children }: { isRetry: boolean; children: ReactNode }) {
  if (!isRetry) return children
  return (
    <>
      Try again: {typeof children === 'string' ? `${children.slice(0, 1).toLowerCase()}${children.slice(1)}` : children}
    </>
  )
}
