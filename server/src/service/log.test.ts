import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

/** The arguments of a Node process that runs a program with a `log`. */
function programArgs(program: string): string[] {
  const { href } = new URL('./log.ts', import.meta.url)
  return ['--input-type=module', '-e', `import { openLog } from '${href}'; const log = openLog('info'); ${program}`]
}

/** Runs a program with a `log` to its end, and returns the lines it logged. */
function linesOf(program: string): { msg: string; req?: unknown }[] {
  return parsed(spawnSync(process.execPath, programArgs(program), { encoding: 'utf8' }).stdout)
}

function parsed(output: string): { msg: string; req?: unknown }[] {
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

test('no line is lost when the process exits, throws or rejects in the same turn', () => {
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

test('lines are written while the process runs, not only when it exits', async (t) => {
  const program = `log.info('first'); setTimeout(() => log.info('second'), 10); setInterval(() => {}, 1_000)`
  const child = spawn(process.execPath, programArgs(program), { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  let text = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    text += chunk
    if (text.includes('second')) break
  }
  assert.deepEqual(
    parsed(text).map(({ msg }) => msg),
    ['first', 'second'],
  )
})

test('credentials are redacted', () => {
  const [line] = linesOf(`log.info({ req: { headers: { authorization: 'Bearer not-a-key' } } }, 'request')`)
  assert.deepEqual(line!.req, { headers: { authorization: '[Redacted]' } })
})

const MANY_LINES = (count: number) => `const filler = 'x'.repeat(1_000); for (let line = 0; line < ${count}; line++) {
    log.info({ filler }, String(line))
    if (line % 20 === 0) await new Promise(setImmediate)
  }`

/** Runs a program whose log is not read before the program is done, and returns the lines read then. */
async function readLate(t: TestContext, program: string): Promise<{ msg: string; count?: number }[]> {
  const child = spawn(process.execPath, programArgs(`${program}; process.stderr.write('done')`), {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stderr, 'data')
  let output = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) output += chunk
  return parsed(output)
}

test('a slow reader does not block the process, and later reads every line whole and in order', async (t) => {
  for (let attempt = 0; attempt < 10; attempt++) {
    const lines = await readLate(t, MANY_LINES(2_000))
    assert.deepEqual(
      lines.map(({ msg }) => Number(msg)),
      Array.from({ length: 2_000 }, (_, line) => line),
    )
  }
})

test('a reader that falls too far behind loses lines and reads how many', async (t) => {
  const lines = await readLate(t, MANY_LINES(20_000))
  const { msg, count } = lines.pop()!
  assert.match(msg, /^log lines dropped here/)
  assert.deepEqual(
    lines.map(({ msg }) => Number(msg)),
    Array.from({ length: 20_000 - count! }, (_, line) => line),
  )
})

test('a lost line is counted even when the only line kept is the one being written', async (t) => {
  const lines = await readLate(
    t,
    `log.info('é'.repeat(9_000_000)); for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate); log.info('one more')`,
  )
  assert.deepEqual(
    lines.map(({ msg, count }) => [msg.slice(0, 5), count]),
    [
      ['ééééé', undefined],
      ['log l', 1],
    ],
  )
})

test('a full disk loses lines but does not stop the process, and the next line starts on a line of its own', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'log')
  const program = `import { statSync, truncateSync } from 'node:fs'
    log.info('x'.repeat(20_000)) // more than the file may hold
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

test('lines go through a shell pipe, and a reader that exits does not stop the process', () => {
  const program = `for (let line = 0; line < 5_000; line++) { log.info(String(line)); if (line % 20 === 0) await new Promise(setImmediate) }
  process.stderr.write('done')`
  const command = `exec "$0" "$@" | head -n 3`
  const { stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, ...programArgs(program)], {
    encoding: 'utf8',
  })
  assert.equal(stderr, 'done')
  assert.deepEqual(
    parsed(stdout).map(({ msg }) => msg),
    ['0', '1', '2'],
  )
})
