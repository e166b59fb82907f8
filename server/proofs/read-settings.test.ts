import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS } from './cluster/faults.ts'
import { readSettings, USAGE } from './read-settings.ts'

const read = (...args: string[]) => readSettings(args, { nowMs: 0, newSeed: 7 })

test('without options, every promise is proved on both databases with a new seed', () => {
  const { promises, databases, env, beginsUntil } = read()!
  assert.deepEqual([promises.length, databases, beginsUntil], [30, ['embedded', 'postgres'], Number.POSITIVE_INFINITY])
  assert.deepEqual(env, { PROVE_SEED: '7', PROVE_SHARE: '1', PROVE_SOAK_MINUTES: '0.5' })
})

test('promises are chosen by number or by the name of a proof, and unknown ones refused', () => {
  assert.deepEqual(
    read('--only', '3,failover')!.promises.map(({ number }) => number),
    [3, 29],
  )
  for (const only of ['31', 'failovers', '3,', '']) assert.equal(read('--only', only), undefined, only)
})

test('numbers and databases that make no sense are refused', () => {
  for (const [name, value] of [
    ['--seed', 'x'],
    ['--share', '0'],
    ['--soak-minutes', '-1'],
    ['--minutes', 'soon'],
    ['--on', 'mysql'],
  ] as const)
    assert.equal(read(`${name}=${value}`), undefined, name)
  assert.throws(() => read('--fault', 'frozen'), /Unknown option/)
})

test('the long run has only the faults that are named; unknown ones, and those of a short run, are refused', () => {
  assert.equal(read('--long', '--faults', 'frozen,cut-off')!.env.PROVE_FAULTS, 'frozen,cut-off')
  assert.equal(read('--long')!.env.PROVE_FAULTS, undefined)
  for (const faults of ['froze', 'frozen,', '', 'constructor', 'frozen, cut-off'])
    assert.equal(read('--long', '--faults', faults), undefined, faults)
  assert.equal(read('--faults', 'frozen'), undefined)
  for (const name of Object.keys(FAULTS)) assert.ok(USAGE.includes(name), name)
})
