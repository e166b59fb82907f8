import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { OUT_OF_REACH } from './out-of-reach.ts'

test('docs/audit-log.md lists exactly what the audit log is known not to protect against', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/audit-log.md'), 'utf8')
  const section = page.slice(page.indexOf('## What does the log not protect against?'))
  const rows = section.split('\n').filter((line) => line.startsWith('| ') && line !== '| what | why |')
  assert.deepEqual(
    rows,
    OUT_OF_REACH.map(({ what, why }) => `| ${what} | ${why} |`),
  )
})
