import type { Config } from '../config.ts'

/**
 * Renders what the console port says while its page is built, or if it cannot be. It asks again by a script and reloads
 * once there is something else to see: a timed reload would interrupt a person who reads it (WCAG 2.2.1).
 */
export function waitingPage(
  { baseUrls, dataDir }: Pick<Config, 'baseUrls' | 'dataDir'>,
  { nonce, why, askAgainAfterSeconds }: { nonce: string; why: string | undefined; askAgainAfterSeconds: number },
): string {
  const rows = [
    ['Sandbox API', baseUrls.sandbox, `${baseUrls.sandbox}/openapi.json`],
    ['Production API', baseUrls.production, `${baseUrls.production}/openapi.json`],
  ].map(
    ([name, url, description]) =>
      `<tr><th scope="row">${name}</th><td><code>${escapeHtml(url!)}</code></td><td><a href="${escapeHtml(description!)}">openapi.json</a></td></tr>`,
  )
  const state = why
    ? `<p role="alert"><b>The page of the console is not available:</b> ${escapeHtml(why)}</p>`
    : '<p role="status"><b>The page of the console is being built.</b> This takes a few seconds, once after each change; it opens here by itself.</p>'
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Verdigraph</title>
<style nonce="${nonce}">
  :root { color-scheme: light dark; --ink: #0f1d1b; --paper: #f5f8f7; --quiet: #43534f; --line: #e1e8e6; --accent: #125e52 }
  @media (prefers-color-scheme: dark) { :root { --ink: #e8f0ee; --paper: #0b1110; --quiet: #b0bfbc; --line: #233130; --accent: #6fc7b5 } }
  body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, sans-serif }
  main { max-width: 44rem; margin: 12vh auto; padding: 0 1.5rem }
  h1 { font-size: 1.75rem; margin: 0 } p { color: var(--quiet) } b { color: var(--ink) } a { color: var(--accent) }
  table { border-collapse: collapse; width: 100%; margin: 1.5rem 0 }
  th, td { text-align: left; padding: .6rem .75rem .6rem 0; border-top: 1px solid var(--line); font-weight: normal }
  code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere }
</style>
<main>
<h1>Verdigraph</h1>
${state}
<p>The APIs answer already:</p>
<table>${rows.join('')}</table>
<p>The first sandbox key is in <code>${escapeHtml(`${dataDir}/first-run.txt`)}</code> on the server; <code>npm run cli -- keys create</code> creates more.</p>
<p><a href="/healthz">Process</a> · <a href="/readyz">Databases</a> · <a href="/metrics">Metrics</a></p>
</main>
${why ? '' : `<script nonce="${nonce}">${askAgain(askAgainAfterSeconds)}</script>`}
</html>
`
}

/** The server sends `Retry-After` for as long as it builds. An error of a proxy in front of it would not ask again. */
function askAgain(afterSeconds: number): string {
  return `setInterval(async () => {
  const answer = await fetch(location.href, { method: 'HEAD', cache: 'no-store' }).catch(() => undefined)
  const hasEnded = answer && (answer.ok || answer.status === 503) && !answer.headers.has('Retry-After')
  if (hasEnded) location.reload()
}, ${afterSeconds * 1_000})`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
