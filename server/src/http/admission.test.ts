import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Admission } from './admission.ts'

function fill(admission: Admission): number {
  let admitted = 0
  for (; !admission.isFull; admitted++) admission.enter()
  return admitted
}

test('a server that has answered nothing yet lets a batch in', () => {
  assert.equal(fill(new Admission(() => 0)), 128)
})

test('a server that answers quickly lets in what it answers in half a second', () => {
  let now = 10_000
  const admission = new Admission(() => now)
  for (let request = 0; request < 3_000; request++) {
    admission.enter()
    admission.leave()
  }
  now += 1_000
  assert.equal(fill(admission), 1_500)
})

test('a server that stops answering soon lets in no more than a batch', () => {
  let now = 10_000
  const admission = new Admission(() => now)
  for (let request = 0; request < 3_000; request++) {
    admission.enter()
    admission.leave()
  }
  now += 2_000
  assert.equal(fill(admission), 128)
  admission.leave()
  assert.equal(admission.isFull, false, 'whoever is answered makes room')
})
