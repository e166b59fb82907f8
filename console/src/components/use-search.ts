import { useRouter, useRouterState } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { PageSearch } from './page-link.tsx'

/** The filters, sort order and opened rows of a page, which live in the URL; the setter changes only what it is given. */
export function useSearchString(): [PageSearch, (changes: PageSearch) => void] {
  const router = useRouter()
  const search = useRouterState({ select: (state) => state.location.search as PageSearch })
  const change = useCallback(
    (changes: PageSearch) => {
      const { pathname, search: current } = router.state.location
      const next = { ...(current as PageSearch), ...changes }
      const set = Object.entries(next).filter((entry): entry is [string, string] => Boolean(entry[1]))
      router.history.replace(set.length > 0 ? `${pathname}?${new URLSearchParams(set)}` : pathname)
    },
    [router],
  )
  return [search, change]
}

/** Whether a dialog is open, as a parameter of the URL: links and the command menu can then open it. */
export function useDialogInUrl(name: string): [boolean, (isOpen: boolean) => void] {
  const [search, setSearch] = useSearchString()
  return [search[name] === '1', (isOpen) => setSearch({ [name]: isOpen ? '1' : undefined })]
}
