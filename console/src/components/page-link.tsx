import { useLinkProps, useRouter } from '@tanstack/react-router'
import type { ComponentPropsWithRef, ForwardedRef } from 'react'
import type { Place } from '../api/call.ts'
import { pathIn, usePlace } from '../api/use-place.ts'
import type { PageTarget } from './page-search.ts'

type LinkOptions = Parameters<typeof useLinkProps>[0]
type LinkProps = ComponentPropsWithRef<'a'> & { 'data-status'?: string }
type AnchorProps = Omit<ComponentPropsWithRef<'a'>, 'href'>

/** A link to a page of this organization and environment. Its code is loaded as soon as the link is pointed at. */
export function PageLink({ to, search, ...props }: PageTarget & AnchorProps) {
  return <PathLink {...props} path={pathIn(usePlace(), to)} search={search} />
}

/** Says nothing about a link to the page that is shown: a link may lead to the same page with other filters. */
const NO_STATE = {}

/** A link to any path of the console, with its search parameters. */
export function PathLink({
  path,
  search,
  ref,
  'aria-current': current,
  ...props
}: { path: string; search?: PageTarget['search'] } & AnchorProps) {
  // The paths of the console are typed by `PageTarget`; the router is given the finished path.
  const options = { ...props, to: path, search: search ?? {}, activeProps: NO_STATE } as LinkOptions
  const { 'data-status': _, ...link } = useLinkProps(options, ref as ForwardedRef<Element>) as LinkProps
  return <a {...link} aria-current={current} />
}

/** Goes to a page of this organization and environment. */
export function useGoTo(): (target: PageTarget) => void {
  const place = usePlace()
  const go = useGoIn()
  return (target) => go(place, target)
}

/** Goes to a page of a place. */
export function useGoIn(): (place: Place, target: PageTarget) => void {
  const router = useRouter()
  return (place, { to, search = {} }) =>
    router.history.push(pathIn(place, to) + router.options.stringifySearch({ ...search }))
}
