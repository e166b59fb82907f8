import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { relationshipPolicy } from '../../../../tests/relationship-policy.ts'
import { compilePolicy } from '../compile/compile-policy.ts'
import type { PolicyCharacteristic } from '../policy-document.ts'

const { document } = relationshipPolicy()
const { characteristics } = document.scorecard

/** The places of the problems of the policy with other bins for the first characteristic of a type. */
function problemsWith(type: 'number' | 'string', bins: PolicyCharacteristic['bins']): string[] {
  const index = characteristics.findIndex(
    ({ feature }) => document.inputs.find((input) => input.feature === feature)?.type === type,
  )
  const changed = characteristics.map((one, at) => (at === index ? { ...one, bins } : one))
  const scorecard = { ...document.scorecard, characteristics: changed }
  const compiled = compilePolicy({ ...document, scorecard, tests: [] })
  if ('policy' in compiled) return []
  return compiled.problems.map(({ path }) => path.join('/').replace(`characteristics/${index}`, 'it'))
}

const BINS = ['scorecard/it/bins']

describe('the bins of a characteristic', () => {
  it('of a number are bounds in ascending order, and one for all others', () => {
    assert.deepEqual(problemsWith('number', [{ below: 1, points: 1 }, { below: 2, points: 2 }, { points: 3 }]), [])
    assert.deepEqual(problemsWith('number', [{ points: 3 }]), [])
    assert.deepEqual(problemsWith('number', [{ below: 1, points: 1 }, { below: 1, points: 2 }, { points: 3 }]), BINS)
    assert.deepEqual(problemsWith('number', [{ below: 2, points: 1 }, { below: 1, points: 2 }, { points: 3 }]), BINS)
    assert.deepEqual(problemsWith('number', [{ points: 1 }, { points: 3 }]), BINS)
    assert.deepEqual(problemsWith('number', [{ equals: 'a', points: 1 }, { points: 3 }]), BINS)
    assert.deepEqual(problemsWith('number', [{ below: 1, points: 1 }]), BINS)
  })

  it('of a text are values of its type, and one for all others', () => {
    assert.deepEqual(problemsWith('string', [{ equals: 'a', points: 1 }, { points: 3 }]), [])
    assert.deepEqual(problemsWith('string', [{ equals: true, points: 1 }, { points: 3 }]), BINS)
    assert.deepEqual(problemsWith('string', [{ below: 1, points: 1 }, { points: 3 }]), BINS)
    assert.deepEqual(problemsWith('string', [{ points: 1 }, { points: 3 }]), BINS)
    assert.deepEqual(problemsWith('string', [{ equals: 'a', points: 1 }]), BINS)
  })
})
