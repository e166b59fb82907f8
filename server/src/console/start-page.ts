import type { Config } from '../config.ts'

/** Renders the start page: the addresses of the APIs, and where the first key is. */
export function startPage({ baseUrls, dataDir }: Pick<Config, 'baseUrls' | 'dataDir'>): string {
  const rows = [
    ['Sandbox API', baseUrls.sandbox, `${baseUrls.sandbox}/openapi.json`],
    ['Production API', baseUrls.production, `${baseUrls.production}/openapi.json`],
  ].map(
    ([name, url, description]) =>
      `<tr><th scope="row">${name}</th><td><code>${escapeHtml(url!)}</code></td><td><a href="${escapeHtml(description!)}">openapi.json</a></td></tr>`,
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Verdigraph</title>
<style>
  :root { color-scheme: light dark; --ink: #17302b; --paper: #fbfaf6; --quiet: #5c6f6a; --line: #d8ddd6; --accent: #1f7a68 }
  @media (prefers-color-scheme: dark) { :root { --ink: #e6efe9; --paper: #10201c; --quiet: #9fb3ab; --line: #2c423b; --accent: #6fcdb4 } }
  body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, sans-serif }
  main { max-width: 44rem; margin: 12vh auto; padding: 0 1.5rem }
  h1 { font-size: 1.75rem; margin: 0 } p { color: var(--quiet) } a { color: var(--accent) }
  table { border-collapse: collapse; width: 100%; margin: 1.5rem 0 }
  th, td { text-align: left; padding: .6rem .75rem .6rem 0; border-top: 1px solid var(--line); font-weight: normal }
  code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere }
</style>
<main>
<h1>Verdigraph</h1>
<p>Who should get credit or access, and why. This service is running.</p>
<table>${rows.join('')}</table>
<p>The first sandbox key is in <code>${escapeHtml(`${dataDir}/first-run.txt`)}</code> on the server; <code>npm run cli -- keys create</code> creates more.</p>
<p><a href="/healthz">Process</a> · <a href="/readyz">Databases</a> · <a href="/metrics">Metrics</a></p>
</main>
</html>
`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
