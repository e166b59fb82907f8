import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ApprovalLimit, type Approver, beyondLimits, limitOf } from './approval-limits.ts'

const reviewer: Approver = { type: 'operator', id: 'opr_1', roles: ['reviewer'] }
const eur = (amount: number, product = 'personal_loan') => ({ product, currency: 'EUR', amount })
const row = (type: ApprovalLimit['holder']['type'], id: string, alone: number, more: Partial<ApprovalLimit> = {}) => ({
  holder: { type, id },
  product: null,
  currency: 'EUR',
  alone,
  second: null,
  ...more,
})
const ofRole = [row('role', 'reviewer', 50_000)]

test('an amount at the limit is approved, and one above it is not', () => {
  assert.deepEqual(beyondLimits(ofRole, reviewer, [eur(50_000)]), [])
  assert.deepEqual(beyondLimits(ofRole, reviewer, [eur(50_000.01)]), [
    { currency: 'EUR', amount: 50_000.01, limit: 50_000 },
  ])
})

test('amounts under one row are added up, so that a sum is not approved in parts', () => {
  const parts = [eur(30_000), eur(20_000.1, 'credit_line')]
  assert.deepEqual(beyondLimits(ofRole, reviewer, parts), [{ currency: 'EUR', amount: 50_000.1, limit: 50_000 }])
  const apart = [...ofRole, row('role', 'reviewer', 20_000.1, { product: 'credit_line' })]
  assert.deepEqual(beyondLimits(apart, reviewer, parts), [])
  assert.deepEqual(beyondLimits([row('role', 'reviewer', 0.3)], reviewer, [eur(0.1), eur(0.2)]), [])
})

test('a row of a person goes before those of their roles, and a row of a product before one of all products', () => {
  const limits = [...ofRole, row('operator', 'opr_1', 80_000), row('operator', 'opr_2', 90_000)]
  assert.equal(limitOf(limits, reviewer, eur(0)), 80_000)
  const products = [...limits, row('operator', 'opr_1', 5_000, { product: 'personal_loan' })]
  assert.equal(limitOf(products, reviewer, eur(0)), 5_000)
  assert.equal(limitOf(products, reviewer, eur(0, 'credit_line')), 80_000)
})

test('a limit in one currency leaves nothing in another, and no rows leave any amount', () => {
  assert.equal(limitOf(ofRole, reviewer, { product: 'personal_loan', currency: 'USD' }), 0)
  assert.equal(limitOf([], reviewer, eur(0)), null)
  const otherProduct = [row('role', 'reviewer', 1, { product: 'mortgage' })]
  assert.equal(limitOf(otherProduct, reviewer, eur(0)), null)
})

test('of several roles the widest counts', () => {
  const both: Approver = { ...reviewer, roles: ['reviewer', 'admin'] }
  assert.equal(limitOf([...ofRole, row('role', 'admin', 70_000)], both, eur(0)), 70_000)
  assert.equal(limitOf([...ofRole, row('role', 'admin', 7_000)], both, eur(0)), 50_000)
  assert.equal(limitOf(ofRole, both, eur(0)), null)
})

test('the limit of a second signature is its own', () => {
  const limits = [row('role', 'reviewer', 50_000, { second: 100_000 })]
  assert.deepEqual(beyondLimits(limits, reviewer, [eur(100_000)], 'second'), [])
  assert.equal(beyondLimits(limits, reviewer, [eur(100_001)], 'second').length, 1)
  assert.deepEqual(beyondLimits(ofRole, reviewer, [eur(1e12)], 'second'), [])
})

test('an API key of production approves nothing without a row, and one of the sandbox anything', () => {
  const live: Approver = { type: 'api_key', id: 'key_1', isLive: true }
  assert.equal(beyondLimits(ofRole, live, [eur(0.01)]).length, 1)
  assert.deepEqual(beyondLimits(ofRole, { ...live, isLive: false }, [eur(1e12)]), [])
  assert.deepEqual(beyondLimits([row('api_key', 'key_1', 100)], live, [eur(100)]), [])
})
