import { useSyncExternalStore } from 'react'
import type { PageTarget } from './page-search.ts'

/** What the header shows about the current page. */
export interface Crumbs {
  title: string
  parent?: { title: string; path: PageTarget['to'] }
}

let current: Crumbs = { title: '' }
const listeners = new Set<() => void>()

/** Names the current page; called by `PageHeader`. */
export function setCrumbs(crumbs: Crumbs): void {
  current = crumbs
  for (const listener of listeners) listener()
}

/** The name of the current page, and its parent if there is one. */
export function useCrumbs(): Crumbs {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
}
