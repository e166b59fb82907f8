import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editedPolicy } from '../../../tests/edited-policy.ts'
import { refusesProduct } from './refuses-product.ts'

test('only a policy that says so refuses a product, and only one that it does not list', () => {
  const refused = (unknown: 'refuse' | 'default', product: string) =>
    refusesProduct(editedPolicy({ unknown_products: unknown }), product)
  assert.deepEqual([refused('refuse', 'yacht'), refused('refuse', 'default')], [true, false])
  assert.deepEqual([refused('default', 'yacht'), refused('default', 'default')], [false, false])
})
