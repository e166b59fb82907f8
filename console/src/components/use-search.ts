import { useRouter, useRouterState } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { type PageName, readSearch, type SearchOf } from './page-search.ts'

type SearchTexts = Readonly<Record<string, string | undefined>>

/** All parameters of the URL as texts, for components that any page may hold; the setter changes only what it is given. */
export function useSearchTexts(): [SearchTexts, (changes: SearchTexts) => void] {
  const router = useRouter()
  const search = useRouterState({ select: (state) => state.location.search as SearchTexts })
  const change = useCallback(
    (changes: SearchTexts) => {
      const { pathname, search: current } = router.state.location
      router.history.replace(pathname + router.options.stringifySearch({ ...current, ...changes }))
    },
    [router],
  )
  return [search, change]
}

/** The filters and opened rows of a page, which live in the URL; the setter changes only what it is given. */
export function usePageSearch<Page extends PageName>(page: Page): [SearchOf<Page>, (changes: SearchOf<Page>) => void] {
  const [texts, change] = useSearchTexts()
  const search = useMemo(() => readSearch(page, texts), [page, texts])
  return [search, change as (changes: SearchOf<Page>) => void]
}

/** Whether a dialog is open, as a parameter of the URL: links and the command menu can then open it. */
export function useDialogInUrl<Page extends PageName>(
  page: Page,
  name: keyof SearchOf<Page> & string,
): [boolean, (isOpen: boolean) => void] {
  const [search, setSearch] = usePageSearch(page)
  return [
    search[name] === '1',
    (isOpen) => setSearch({ [name]: isOpen ? '1' : undefined } as unknown as SearchOf<Page>),
  ]
}
