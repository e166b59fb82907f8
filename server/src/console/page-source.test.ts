import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { fingerprintOfDist, fingerprintOfSources, SHARED_FILES } from './page-build.ts'
import { PageSource, type PageState } from './page-source.ts'

/** Stands in for Vite, which takes seconds: the journeys of the page build with the real one. */
const BUILDER = `
const { mkdirSync, writeFileSync, readFileSync } = require('node:fs')
const out = process.argv[process.argv.indexOf('--outDir') + 1]
const source = readFileSync('index.html', 'utf8')
if (source.includes('broken')) { console.error('index.html is broken'); process.exit(1) }
if (source.includes('endless')) setInterval(() => {}, 1000)
else { mkdirSync(out, { recursive: true }); writeFileSync(out + '/index.html', source + Object.keys(process.env).sort()) }
`

function newFolder({ html, hasBuilder = true }: { html: string; hasBuilder?: boolean }): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'verdigraph-page-')), 'console')
  mkdirSync(join(folder, 'src'), { recursive: true })
  after(() => rmSync(join(folder, '..'), { recursive: true, force: true }))
  writeFileSync(join(folder, 'index.html'), html)
  writeFileSync(join(folder, 'package.json'), '{}')
  if (hasBuilder) {
    mkdirSync(join(folder, 'node_modules/vite/bin'), { recursive: true })
    writeFileSync(join(folder, 'node_modules/vite/package.json'), '{"name":"vite","version":"0.0.0"}')
    writeFileSync(join(folder, 'node_modules/vite/bin/vite.js'), BUILDER)
  }
  return folder
}

function newSource(folder: string, builds = true): { source: PageSource; logs: string[] } {
  const logs: string[] = []
  const logger = pino({}, { write: (line: string) => void logs.push(line) })
  return { source: new PageSource({ logger, builds, folder }), logs }
}

/** Waits for the end of a build that a first call started. */
async function settled(source: PageSource): Promise<PageState> {
  for (;;) {
    const state = await source.state()
    if (state.is !== 'building') return state
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('a start builds a page that was not built, says so meanwhile, and the next start does not build again', async () => {
  const folder = newFolder({ html: 'first' })
  const { source } = newSource(folder)
  assert.deepEqual(await source.state(), { is: 'building' })
  const state = await settled(source)
  assert.ok(state.is === 'ready' && state.page.html.startsWith('first'))
  assert.equal(await fingerprintOfDist(folder), await fingerprintOfSources(folder))

  const next = newSource(folder)
  assert.equal((await next.source.state()).is, 'ready')
  assert.deepEqual(next.logs, [])
})

test('changed sources are built again', async () => {
  const folder = newFolder({ html: 'first' })
  await settled(newSource(folder).source)
  writeFileSync(join(folder, 'src/added.ts'), 'export {}')
  writeFileSync(join(folder, 'index.html'), 'second')
  const state = await settled(newSource(folder).source)
  assert.ok(state.is === 'ready' && state.page.html.startsWith('second'))
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('dist')),
    ['dist'],
  )
})

test('a change of a file that the page shares with the server builds it again', async () => {
  for (const file of [...SHARED_FILES, '../package-lock.json']) {
    const folder = newFolder({ html: 'first' })
    await settled(newSource(folder).source)
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), 'changed')
    assert.equal((await newSource(folder).source.state()).is, 'building', file)
  }
})

test('the build sees none of the settings of the service', async () => {
  const folder = newFolder({ html: 'env: ' })
  process.env.MASTER_KEY_OF_A_TEST = 'secret'
  after(() => delete process.env.MASTER_KEY_OF_A_TEST)
  const state = await settled(newSource(folder).source)
  assert.ok(state.is === 'ready')
  assert.doesNotMatch(state.page.html, /MASTER_KEY_OF_A_TEST/)
})

test('a build that fails says what to do, leaves the old page in place, and is tried again', async () => {
  const folder = newFolder({ html: 'good' })
  await settled(newSource(folder).source)
  writeFileSync(join(folder, 'index.html'), 'broken')
  const { source, logs } = newSource(folder)
  const state = await settled(source)
  assert.ok(state.is === 'unavailable')
  assert.match(state.why, /npm run build/)
  assert.match(logs.join(''), /index\.html is broken/)
  assert.match(readFileSync(join(folder, 'dist/index.html'), 'utf8'), /^good/)

  writeFileSync(join(folder, 'index.html'), 'mended')
  const mended = await settled(newSource(folder).source)
  assert.ok(mended.is === 'ready' && mended.page.html.startsWith('mended'))
})

test('an installation without Vite serves the page that it was packaged with', async () => {
  const folder = newFolder({ html: 'packaged', hasBuilder: false })
  const none = await settled(newSource(folder).source)
  assert.ok(none.is === 'unavailable' && /Vite is not installed/.test(none.why))

  mkdirSync(join(folder, 'dist'))
  writeFileSync(join(folder, 'dist/index.html'), 'older')
  writeFileSync(join(folder, 'dist/fingerprint'), 'of older sources')
  const { source, logs } = newSource(folder)
  const state = await settled(source)
  assert.ok(state.is === 'ready' && state.page.html === 'older')
  assert.match(logs.join(''), /older than its sources/)
})

test('a folder that cannot be written is left alone, and the log says so', {
  skip: process.getuid?.() === 0 && 'the superuser can write everywhere',
}, async () => {
  const folder = newFolder({ html: 'read-only' })
  chmodSync(folder, 0o555)
  after(() => chmodSync(folder, 0o755))
  const state = await settled(newSource(folder).source)
  assert.ok(state.is === 'unavailable' && /cannot be written/.test(state.why))
})

test('closing ends a build that is running', async () => {
  const folder = newFolder({ html: 'endless' })
  const { source } = newSource(folder)
  assert.deepEqual(await source.state(), { is: 'building' })
  await source.close()
  assert.equal(existsSync(join(folder, 'dist')), false)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('dist')),
    [],
  )
})

test('without the order to build, a start only serves what was built', async () => {
  const folder = newFolder({ html: 'sources' })
  const state = await newSource(folder, false).source.state()
  assert.ok(state.is === 'unavailable' && /npm run build/.test(state.why))
})
