import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

/** A program that has a `log`. */
function programArgs(program: string): string[] {
  const { href } = new URL('./log.ts', import.meta.url)
  return ['--input-type=module', '-e', `import { openLog } from '${href}'; const log = openLog('info'); ${program}`]
}

/** Runs a program that has a `log`, and returns the lines it left behind. */
function linesOf(program: string): { msg: string; req?: unknown }[] {
  return parsed(spawnSync(process.execPath, programArgs(program), { encoding: 'utf8' }).stdout)
}

function parsed(output: string): { msg: string; req?: unknown }[] {
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

test('no line is lost when the process ends in the same turn, whichever way', () => {
  for (const ending of [
    'process.exit(1)',
    'throw new Error("unexpected")',
    'Promise.reject(new Error("unexpected"))',
  ]) {
    const lines = linesOf(`for (let line = 0; line < 500; line++) log.info(String(line)); ${ending}`)
    assert.deepEqual(
      lines.map(({ msg }) => Number(msg)),
      Array.from({ length: 500 }, (_, line) => line),
      ending,
    )
  }
})

test('lines of later turns are written without waiting for the end', () => {
  const lines = linesOf(
    `log.info('first'); setTimeout(() => { log.info('second'); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 100) }, 10)`,
  )
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['first', 'second'],
  )
})

test('credentials are not written', () => {
  const [line] = linesOf(`log.info({ req: { headers: { authorization: 'Bearer not-a-key' } } }, 'request')`)
  assert.deepEqual(line!.req, { headers: { authorization: '[Redacted]' } })
})

const MANY_LINES = (count: number) => `const filler = 'x'.repeat(1_000); for (let line = 0; line < ${count}; line++) {
    log.info({ filler }, String(line))
    if (line % 20 === 0) await new Promise(setImmediate)
  }`

/** What a program leaves to somebody who reads nothing before it has come to its end. */
async function readLate(t: TestContext, program: string): Promise<{ msg: string; count?: number }[]> {
  const child = spawn(process.execPath, programArgs(`${program}; process.stderr.write('went on')`), {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stderr, 'data')
  let output = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) output += chunk
  return parsed(output)
}

test('nobody waits for whoever reads the log, and each line arrives whole and in its place', async (t) => {
  for (let round = 0; round < 10; round++) {
    const lines = await readLate(t, MANY_LINES(2_000))
    assert.deepEqual(
      lines.map(({ msg }) => Number(msg)),
      Array.from({ length: 2_000 }, (_, line) => line),
    )
  }
})

test('a reader who is too far behind misses lines, and reads how many', async (t) => {
  const lines = await readLate(t, MANY_LINES(20_000))
  const { msg, count } = lines.pop()!
  assert.match(msg, /Lines are left out here/)
  assert.deepEqual(
    lines.map(({ msg }) => Number(msg)),
    Array.from({ length: 20_000 - count! }, (_, line) => line),
  )
})

test('what is left out is told also when nothing is kept but what is being written', async (t) => {
  const lines = await readLate(
    t,
    `log.info('é'.repeat(9_000_000)); for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate); log.info('one more')`,
  )
  assert.deepEqual(
    lines.map(({ msg, count }) => [msg.slice(0, 5), count]),
    [
      ['ééééé', undefined],
      ['Lines', 1],
    ],
  )
})

test('a disk that was full for a while costs lines, not the service, and the next line begins anew', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'log')
  const program = `import { statSync, truncateSync } from 'node:fs'
    log.info('x'.repeat(20_000)) // the file may have a few thousand bytes
    while (statSync('${file}').size === 0) await new Promise(setImmediate)
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    truncateSync('${file}', 1_000)
    log.info('after')`
  const command = 'ulimit -f 8; file=$1; shift; exec "$@" >> "$file"'
  const { status } = spawnSync('sh', ['-c', command, 'sh', file, process.execPath, ...programArgs(program)])
  const [torn, next] = readFileSync(file, 'utf8').split('\n')
  assert.equal(status, 0)
  assert.equal(torn!.length, 1_000)
  assert.equal(JSON.parse(next!).msg, 'after')
})

test('lines go through a pipe of the shell, and a reader who leaves is not the end of the service', () => {
  const program = `for (let line = 0; line < 5_000; line++) { log.info(String(line)); if (line % 20 === 0) await new Promise(setImmediate) }
  process.stderr.write('went on')`
  const command = `exec "$0" "$@" | head -n 3`
  const { stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, ...programArgs(program)], {
    encoding: 'utf8',
  })
  assert.equal(stderr, 'went on')
  assert.deepEqual(
    parsed(stdout).map(({ msg }) => msg),
    ['0', '1', '2'],
  )
})
