import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { NotBuildable } from './build-process.ts'
import { buildServer, buildServerForNextStart } from './server-build.ts'

/** A tree with a program in the place of the one that builds; the journey of the built server runs the real one. */
function newTree(program: string, { hasRolldown = true } = {}): string {
  const root = mkdtempSync(join(tmpdir(), 'verdigraph-build-'))
  after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'scripts'))
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  writeFileSync(join(root, 'scripts/build-server.ts'), `import { writeFileSync } from 'node:fs'\n${program}`)
  if (hasRolldown) {
    mkdirSync(join(root, 'node_modules/rolldown'), { recursive: true })
    writeFileSync(join(root, 'node_modules/rolldown/index.js'), '')
  }
  return root
}

const ENVIRONMENT = "writeFileSync('environment', Object.keys(process.env).join())"

function logged(): { logger: pino.Logger; text: () => string } {
  const lines: string[] = []
  return { logger: pino({}, { write: (line: string) => void lines.push(line) }), text: () => lines.join('') }
}

test('the process that builds gets no setting of the service', async () => {
  const root = newTree(ENVIRONMENT)
  await buildServer({ root })
  assert.equal(readFileSync(join(root, 'environment'), 'utf8'), 'NODE_ENV')
})

test('where nothing can be built, the reason is given and no process is started', async () => {
  const root = newTree(ENVIRONMENT, { hasRolldown: false })
  await assert.rejects(
    buildServer({ root }),
    (error) => error instanceof NotBuildable && /Rolldown/.test(error.message),
  )
  assert.equal(existsSync(join(root, 'environment')), false)
})

test('a build that fails is logged with its output, and the service runs on', async () => {
  const root = newTree("console.error('a syntax error'); process.exit(3)")
  const { logger, text } = logged()
  const close = buildServerForNextStart(logger, { root, afterMs: 0 })
  while (text() === '') await sleep(10)
  assert.match(text(), /a syntax error.*could not be built/)
  await close()
})

test('the end of the service ends a build without a word', async () => {
  const root = newTree("writeFileSync('begun', ''); setInterval(() => {}, 1000)")
  const { logger, text } = logged()
  const close = buildServerForNextStart(logger, { root, afterMs: 0 })
  while (!existsSync(join(root, 'begun'))) await sleep(10)
  await close()
  assert.equal(text(), '')
})
