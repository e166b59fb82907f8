import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { batchedRead } from './batched-read.ts'

test('what is asked for in one turn of the event loop is read at once, and what comes meanwhile with the next', async () => {
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

test('many are answered at once, and who comes after them waits for others; after a few, nobody does', async ({
  mock,
}) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const loads: string[][] = []
  const read = batchedRead({
    keyText: (key: string) => key,
    async load(keys) {
      loads.push(keys)
      return new Map(keys.map((key) => [key, key]))
    },
  })
  await Promise.all(['a', 'b'].map(read))
  assert.equal(await read('c'), 'c')
  assert.deepEqual(loads, [['a', 'b'], ['c']])

  await Promise.all(['d', 'e', 'f'].map(read))
  const later = [read('g'), read('h')]
  await setImmediate()
  assert.equal(loads.length, 3)
  mock.timers.tick(4)
  assert.deepEqual(await Promise.all(later), ['g', 'h'])
  assert.deepEqual(loads.slice(2), [
    ['d', 'e', 'f'],
    ['g', 'h'],
  ])
})
