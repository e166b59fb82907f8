import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Admission } from './admission.ts'

/** Sends requests of one organization until one is refused; returns how many were admitted. */
function fill(admission: Admission, organizationId: string): number {
  let admitted = 0
  while (admission.enter(organizationId)) admitted += 1
  return admitted
}

/** Admits requests and answers each at once. */
function answer(admission: Admission, count: number): void {
  for (let request = 0; request < count; request++) {
    admission.enter('a')
    admission.leave('a')
  }
}

test('a server that has answered nothing yet admits 256 requests, at most half of them from one organization', () => {
  const admission = new Admission(() => 0)
  assert.equal(fill(admission, 'a'), 128)
  assert.equal(admission.isFull, false, 'one organization cannot fill the server')
  assert.equal(fill(admission, 'b'), 128)
  assert.equal(admission.isFull, true)
  assert.equal(fill(admission, 'c'), 0)
  admission.leave('a')
  assert.equal(admission.isFull, false, 'an answered request frees its slot')
})

test('a server that answers 3,000 requests per second admits half a second of them', () => {
  let now = 10_000
  const admission = new Admission(() => now)
  answer(admission, 3_000)
  now += 1_000
  assert.equal(fill(admission, 'a') + fill(admission, 'b'), 1_500)
})

test('a server that has answered nothing for a second admits no more than 256 requests', () => {
  let now = 10_000
  const admission = new Admission(() => now)
  answer(admission, 3_000)
  now += 2_000
  assert.equal(fill(admission, 'a') + fill(admission, 'b'), 256)
})
