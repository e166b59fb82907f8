import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PROMISES } from './promises.ts'

const ROOT = join(import.meta.dirname, '../..')

test('there are 30 promises, in order, and each has a proof', () => {
  assert.deepEqual(
    PROMISES.map(({ number }) => number),
    Array.from({ length: 30 }, (_, index) => index + 1),
  )
  for (const { number, proofs } of PROMISES) assert.ok(proofs.length > 0, `promise ${number} has no proof`)
})

test('every proof is a file that has the tests it is named for', () => {
  for (const { number, proofs } of PROMISES) {
    for (const { file, tests = [] } of proofs) {
      assert.ok(existsSync(join(ROOT, file)), `promise ${number}: ${file}`)
      const text = readFileSync(join(ROOT, file), 'utf8')
      for (const name of tests) assert.ok(text.includes(name), `promise ${number}: ${file} has no test "${name}"`)
    }
  }
})

test('every file of proofs proves a promise', () => {
  const proving = new Set(PROMISES.flatMap(({ proofs }) => proofs.map(({ file }) => file)))
  for (const file of globSync('server/proofs/*.proof.ts', { cwd: ROOT })) assert.ok(proving.has(file), file)
})
