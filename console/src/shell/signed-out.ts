import type { QueryClient } from '@tanstack/react-query'

/** Forgets what the session had read, and asks to sign in; the page comes back to where it was afterwards. */
export function leaveForSignIn(queries: QueryClient, goTo: (path: string) => void): void {
  const { pathname, search, hash } = window.location
  if (pathname === '/sign-in') return
  queries.clear()
  goTo(`/sign-in?${new URLSearchParams({ next: pathname + search + hash })}`)
}
