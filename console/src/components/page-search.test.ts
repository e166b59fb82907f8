import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanSearch, readSearch } from './page-search.ts'

test('a page reads its own parameters and no others', () => {
  const search = { verdict: 'decline', from: '2026-01-01', case: 'cas_1' }
  assert.deepEqual(readSearch('decisions', search), { verdict: 'decline', from: '2026-01-01' })
  assert.deepEqual(readSearch('review-queue', search), { case: 'cas_1' })
})

test('every page reads the order of its table, so that its links keep it', () => {
  assert.deepEqual(readSearch('usage', { sort: '-errors' }), { sort: '-errors' })
  assert.deepEqual(readSearch('policies', { sort: 'version' }), { sort: 'version' })
})

test('a word that a page does not know is dropped, and a filter that a chip can remove is kept', () => {
  assert.deepEqual(readSearch('overview', { range: '1y' }), {})
  assert.deepEqual(readSearch('review-queue', { holder: 'them', state: 'lost' }), { state: 'lost' })
})

test('empty and repeated parameters, and names of object methods, break no page', () => {
  assert.deepEqual(readSearch('decisions', { verdict: '', tier: ['A', 'B'], toString: 'x', constructor: 'y' }), {})
})

test('cleaning an address removes malformed words by name, so that the router forgets them', () => {
  assert.deepEqual(cleanSearch('overview', { range: '1y', other: 'x' }), { range: undefined, sort: undefined })
  assert.deepEqual(cleanSearch('overview', { range: '7d' }), { range: '7d', sort: undefined })
})
