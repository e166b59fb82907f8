import assert from 'node:assert/strict'
import { test } from 'node:test'
import { known } from './facts.ts'
import { featureNames } from './feature-catalogue.ts'
import { readerOf } from './read-feature.ts'

test('every feature is read under its own name, and under no other', () => {
  const names = [...featureNames(''), 'snapshot.years_in_business']
  const all = Object.fromEntries(names.map((name, place) => [name, known(place)]))
  for (const [place, name] of names.entries()) {
    assert.deepEqual(readerOf(name)(all), known(place), name)
    const { [name]: _, ...others } = all
    assert.equal(readerOf(name)(others), undefined, name)
  }
})
