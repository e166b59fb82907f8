/** What a person sees who opens the console while its page is being built. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import Fastify from 'fastify'
import { readConfig } from '../../server/src/config.ts'
import { addPage } from '../../server/src/console/serve-page.ts'
import { assertAccessible, launch, newContext, SIZES, THEMES } from './browser.ts'

/** Stands in for Vite: ends when the test says so, or fails. */
const BUILDER = `
const { existsSync, mkdirSync, writeFileSync } = require('node:fs')
const out = process.argv[process.argv.indexOf('--outDir') + 1]
setInterval(() => {
  if (existsSync('fail')) process.exit(1)
  if (!existsSync('finish')) return
  mkdirSync(out, { recursive: true })
  writeFileSync(out + '/index.html', '<!doctype html><html lang="en"><title>Built</title><h1>The page is here</h1></html>')
  process.exit(0)
}, 50)
`

const browser = await launch()
after(() => browser.close())

async function serveUnbuilt(): Promise<{ url: string; end: (how: 'finish' | 'fail') => void }> {
  const folder = join(mkdtempSync(join(tmpdir(), 'verdigraph-page-')), 'console')
  mkdirSync(join(folder, 'node_modules/vite/bin'), { recursive: true })
  for (const [file, text] of [
    ['index.html', 'sources'],
    ['package.json', '{}'],
    ['node_modules/vite/package.json', '{"name":"vite","version":"0.0.0"}'],
    ['node_modules/vite/bin/vite.js', BUILDER],
  ] as const)
    writeFileSync(join(folder, file), text)
  const app = Fastify()
  const page = addPage(app, { config: readConfig({}), logger: app.log, builds: true, folder })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  after(async () => {
    await page.close()
    app.server.closeAllConnections()
    await app.close()
    rmSync(join(folder, '..'), { recursive: true, force: true })
  })
  return { url, end: (how) => writeFileSync(join(folder, how), '') }
}

test('while the page is built, the console says so and names the APIs, and then opens by itself', async () => {
  const { url, end } = await serveUnbuilt()
  const problems: string[] = []
  const context = await newContext(browser, { url, problems })
  const tab = await context.newPage()
  const answer = await tab.goto(`${url}/org_1/sandbox/webhooks`)
  assert.equal(answer!.status(), 503)
  assert.equal(answer!.headers()['retry-after'], '2')
  await tab.getByRole('status').getByText('The page of the console is being built.').waitFor()
  await tab.getByRole('row', { name: /Sandbox API http:\/\/127.0.0.1:4010/ }).waitFor()
  for (const viewport of Object.values(SIZES))
    for (const colorScheme of THEMES) {
      const other = await context.newPage()
      await other.setViewportSize(viewport)
      await other.emulateMedia({ colorScheme })
      await other.goto(url)
      await other.getByRole('status').waitFor()
      await assertAccessible(other, `the waiting page (${viewport.width} px, ${colorScheme})`)
      await other.close()
    }
  end('finish')
  await tab.getByRole('heading', { name: 'The page is here' }).waitFor()
  assert.equal(new URL(tab.url()).pathname, '/org_1/sandbox/webhooks')
  assert.deepEqual(problems, [])
})

test('a build that fails is said with what to do, and the page asks no more', async () => {
  const { url, end } = await serveUnbuilt()
  const tab = await (await newContext(browser, { url, problems: [] })).newPage()
  await tab.goto(url)
  await tab.getByRole('status').waitFor()
  end('fail')
  await tab.getByRole('alert').getByText('npm run build').waitFor()
  await assertAccessible(tab, 'the page about a failed build')
  assert.equal(await tab.locator('script').count(), 0)
})
