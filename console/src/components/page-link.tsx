import { useRouter } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, MouseEvent } from 'react'
import { pathIn, usePlace } from '../api/use-place.ts'

/** The search string of a page: its filters, sort order and opened rows. */
export type PageSearch = Readonly<Record<string, string | undefined>>

/** The address of a page of this organization and environment, such as `webhooks/whe_1`, with its filters. */
export function usePageHref(): (page: string, search?: PageSearch) => string {
  const place = usePlace()
  return (page, search) => pathIn(place, page) + writeSearch(search)
}

/** Follows a link inside the page, and leaves new tabs and downloads to the browser. */
export function useFollow(): (event: MouseEvent, href: string) => void {
  const router = useRouter()
  return (event, href) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    router.history.push(href)
  }
}

/** A link to a page of this organization and environment. */
export function PageLink({
  to,
  search,
  onClick,
  ...props
}: { to: string; search?: PageSearch } & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'>) {
  const href = usePageHref()(to, search)
  const follow = useFollow()
  return (
    <a
      {...props}
      href={href}
      onClick={(event) => {
        onClick?.(event)
        follow(event, href)
      }}
    />
  )
}

function writeSearch(search: PageSearch = {}): string {
  const set = Object.entries(search).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return set.length > 0 ? `?${new URLSearchParams(set)}` : ''
}
