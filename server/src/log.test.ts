import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

/** Runs a program that has a `log`, and returns the lines it left behind. */
function linesOf(program: string): { msg: string; req?: unknown }[] {
  const { href } = new URL('./log.ts', import.meta.url)
  const source = `import { openLog } from '${href}'; const log = openLog('info'); ${program}`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' })
  return stdout
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
