/**
 * Where signing in leads: the path that a page left in the search string, or one with a token in the fragment. Only
 * paths of the console, so that a link cannot send a person elsewhere.
 */
export function nextPath(
  { search, hash, origin }: { search: string; hash: string; origin: string } = window.location,
): string {
  const fragment = new URLSearchParams(hash.slice(1)).get('next')
  const next = fragment ?? new URLSearchParams(search).get('next') ?? '/'
  // Resolved as the browser will: it drops tabs and line breaks, and reads `\` as `/`.
  const url = URL.canParse(next, origin) ? new URL(next, origin) : undefined
  if (!url || url.origin !== origin || url.pathname.startsWith('//')) return '/'
  return `${url.pathname}${url.search}${url.hash}`
}
