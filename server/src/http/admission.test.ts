import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Admission } from './admission.ts'

function fill(admission: Admission, organizationId = 'a'): number {
  let admitted = 0
  while (admission.enter(organizationId)) admitted += 1
  return admitted
}

function answer(admission: Admission, count: number): void {
  for (let request = 0; request < count; request++) {
    admission.enter('a')
    admission.leave('a')
  }
}

test('a server that has answered nothing yet lets a batch in, and of one organization half of it', () => {
  const admission = new Admission(() => 0)
  assert.equal(fill(admission, 'a'), 128)
  assert.equal(admission.isFull, false, 'whatever one organization does, there is room for others')
  assert.equal(fill(admission, 'b'), 128)
  assert.equal(admission.isFull, true)
  assert.equal(fill(admission, 'c'), 0)
  admission.leave('a')
  assert.equal(admission.isFull, false, 'whoever is answered makes room')
})

test('a server that answers quickly lets in what it answers in half a second', () => {
  let now = 10_000
  const admission = new Admission(() => now)
  answer(admission, 3_000)
  now += 1_000
  assert.equal(fill(admission, 'a') + fill(admission, 'b'), 1_500)
})

test('a server that stops answering soon lets in no more than a batch', () => {
  let now = 10_000
  const admission = new Admission(() => now)
  answer(admission, 3_000)
  now += 2_000
  assert.equal(fill(admission, 'a') + fill(admission, 'b'), 256)
})
