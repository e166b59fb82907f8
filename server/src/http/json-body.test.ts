import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFault } from './json-body.ts'

test('a fault is found in a deeply nested value without a copy of the path for each level', () => {
  // With copies, the paths of 60,000 values that wait would take 14 GB.
  let value: unknown = 'lone \ud800'
  for (let level = 0; level < 60_000; level++) value = { inner: value, leaf: 'text' }
  const fault = findFault(value)
  assert.match(fault!.message, /lone surrogates/)
  assert.equal(fault!.param.split('/inner').length, 60_001)
})

test('a fault is named by its place', () => {
  assert.equal(findFault({ a: [{ b: 1 }, { 'c/d': { prototype: 1 } }] })?.param, '/a/1/c~1d/prototype')
  assert.equal(findFault({ a: ['fine'] }), undefined)
})
