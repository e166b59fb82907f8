import { hash } from 'node:crypto'

const STYLE = `:root { color-scheme: light dark; --ink: #17302b; --paper: #fbfaf6; --quiet: #5c6f6a; --accent: #1f7a68 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6efe9; --paper: #10201c; --quiet: #9fb3ab; --accent: #6fcdb4 } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.6 system-ui, sans-serif }
main { max-width: 34rem; margin: 14vh auto; padding: 0 1.5rem }
h1 { font-size: 1.4rem; margin: 0 0 .5rem } p { margin: 0 0 1rem } a { color: var(--accent) } small { color: var(--quiet) }`

/** The policy of the pages below: nothing but their own style. */
export const OIDC_PAGE_CSP = `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`

/**
 * A page that goes on to the console by itself. The browser came from the provider, so it would not send the new cookie
 * (SameSite=Strict) with a redirect; a navigation that this page begins is the console's own.
 */
export function continuePage(to: string): string {
  const url = escapeHtml(to)
  return page({
    title: 'Signed in',
    head: `<meta http-equiv="refresh" content="0; url=${url}">`,
    body: `<p>You are signed in. <a href="${url}">Go on to the console</a>.</p>`,
  })
}

/** A page that says why a sign-in through the provider did not succeed. */
export function refusedPage(problem: string, requestId: string): string {
  return page({
    title: 'Not signed in',
    head: '',
    body: `<p>${escapeHtml(problem)}</p><p><a href="/sign-in">Back to sign-in</a></p><small>${escapeHtml(requestId)}</small>`,
  })
}

function page({ title, head, body }: { title: string; head: string; body: string }): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}
<title>${title} · Verdigraph</title>
<style>${STYLE}</style>
<main><h1>${title}</h1>${body}</main>
</html>
`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
