import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchedRead } from './batched-read.ts'

test('keys requested in one turn of the event loop share a load, and keys requested during it share the next', async () => {
  const loads: string[][] = []
  const read = batchedRead({
    keyText: (key: string) => key,
    async load(keys) {
      loads.push(keys)
      if (loads.length === 1) late = read('late')
      return new Map(keys.map((key) => [key, key.toUpperCase()]))
    },
  })
  let late: Promise<string | undefined> | undefined
  const first = read('first')
  for (let step = 0; step < 5; step++) await Promise.resolve()
  assert.deepEqual(await Promise.all([first, read('second')]), ['FIRST', 'SECOND'])
  assert.equal(await late, 'LATE')
  assert.deepEqual(loads, [['first', 'second'], ['late']])
})
