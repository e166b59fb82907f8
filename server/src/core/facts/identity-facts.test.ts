import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from '../canonical-json.ts'
import type { IdentifierType } from '../vocabularies.ts'
import { deriveFacts } from './derive-facts.ts'
import { applyIdentityLink, type EntityState, emptyState, type IdentityLinkFact } from './entity-state.ts'

const NOW = '2026-07-15T12:00:00.000Z'
const july = (day: number) => `2026-07-${String(day).padStart(2, '0')}T00:00:00.000Z`

function featureOf(state: EntityState, name: string) {
  return deriveFacts({ state, entity: {}, request: { product: 'default' }, now: NOW }).features[name]
}

const link = (over: {
  type?: IdentifierType
  hash?: string
  issuer?: string
  status: 'verified' | 'failed'
  at: string
}): IdentityLinkFact => ({
  identifier: {
    type: over.type ?? 'tax_id',
    hash: (over.hash ?? 'a').padEnd(64, '0'),
    ...(over.issuer !== undefined && { issuer: over.issuer }),
  },
  verification: { status: over.status },
  createdAt: over.at,
})
const stateOf = (...links: IdentityLinkFact[]) =>
  links.reduce<EntityState>((state, next) => JSON.parse(JSON.stringify(applyIdentityLink(state, next))), emptyState())

describe('identity facts', () => {
  it('are missing, not zero, without any identifier', () => {
    assert.deepEqual(featureOf(emptyState(), 'identity.verified_strong'), { missing: 'no_data' })
  })

  it('count types of identifiers, so ten devices count once', () => {
    const state = stateOf(
      link({ status: 'verified', at: '2026-07-14T12:00:00.000Z' }),
      link({ type: 'email', hash: 'b', status: 'verified', at: '2026-07-10T12:00:00.000Z' }),
      link({ type: 'email', hash: 'c', status: 'verified', at: '2026-07-10T12:00:00.000Z' }),
    )
    assert.deepEqual(featureOf(state, 'identity.verified_strong'), { value: 1, age_days: 1 })
    assert.deepEqual(featureOf(state, 'identity.verified_weak'), { value: 1, age_days: 1 })
  })

  it('drop a verification if a check at the same instant or later fails, not if an earlier one failed', () => {
    const verified = link({ status: 'verified', at: july(2) })
    for (const [failedOn, strong, failed] of [
      [1, 1, 0],
      [2, 0, 1],
      [3, 0, 1],
    ] as const) {
      const links = [verified, link({ status: 'failed', at: july(failedOn) })]
      for (const state of [stateOf(...links), stateOf(...links.toReversed())]) {
        const fact = featureOf(state, 'identity.verified_strong')
        assert.equal(fact && 'value' in fact && fact.value, strong, `failed on July ${failedOn}`)
        assert.deepEqual(featureOf(state, 'identity.failed'), { value: failed })
      }
    }
  })

  it('never count a failed identifier as verified again, whatever else fails after it', () => {
    const links = [link({ status: 'verified', at: july(1) }), link({ status: 'failed', at: july(2) })]
    const others = Array.from({ length: 12 }, (_, index) =>
      link({ hash: `b${index}`, status: 'failed', at: july(3 + (index % 2)) }),
    )
    for (const state of [stateOf(...links, ...others), stateOf(...others, ...links.toReversed())]) {
      assert.deepEqual(featureOf(state, 'identity.verified_strong'), { value: 0 })
      assert.deepEqual(featureOf(state, 'identity.failed'), { value: 8 })
    }
  })

  it('count an identifier as verified only by its latest check, in whatever order the checks arrive', () => {
    fc.assert(
      fc.property(inTwoOrders, ([one, other]) => {
        const state = stateOf(...one)
        assert.equal(canonicalJson(state), canonicalJson(stateOf(...other)))
        const { verified, failed } = state.identity.tax_id ?? { verified: {}, failed: {} }
        const kept = { ...verified, ...failed }
        assert.equal(Object.keys(kept).length, Object.keys(verified).length + Object.keys(failed).length)
        const latest = latestChecks(one)
        assert.equal(Object.keys(kept).length, Math.min(8, latest.size))
        for (const [hash, at] of Object.entries(kept))
          assert.deepEqual(latest.get(hash), { at, status: Object.hasOwn(verified, hash) ? 'verified' : 'failed' })
      }),
    )
  })
})

describe('a conflict of identities', () => {
  const conflicts = (...identifiers: { type?: IdentifierType; hash: string; issuer?: string }[]) => {
    const state = stateOf(...identifiers.map((identifier) => link({ ...identifier, status: 'verified', at: july(1) })))
    return featureOf(state, 'identity.conflicts')
  }

  it('is two verified tax or registration numbers of one issuer, or two without an issuer', () => {
    for (const type of ['tax_id', 'registration_number'] as const) {
      assert.deepEqual(conflicts({ type, hash: 'a' }, { type, hash: 'b' }), { value: 1 })
      assert.deepEqual(conflicts({ type, hash: 'a', issuer: 'DE' }, { type, hash: 'b', issuer: ' de' }), { value: 1 })
    }
  })

  it('is not two numbers of different issuers, or one number with and one without an issuer', () => {
    assert.deepEqual(conflicts({ hash: 'a', issuer: 'US' }, { hash: 'b', issuer: 'DE' }), { value: 0 })
    assert.deepEqual(conflicts({ hash: 'a', issuer: 'US' }, { hash: 'b' }), { value: 0 })
    assert.deepEqual(conflicts({ hash: 'a', issuer: 'constructor' }, { hash: 'b' }), { value: 0 })
  })

  it('is two government documents only if both name the same issuer', () => {
    const type = 'government_id'
    assert.deepEqual(conflicts({ type, hash: 'a' }, { type, hash: 'b' }), { value: 0 })
    assert.deepEqual(conflicts({ type, hash: 'a', issuer: 'passport office' }, { type, hash: 'b' }), { value: 0 })
    assert.deepEqual(conflicts({ type, hash: 'a', issuer: 'US' }, { type, hash: 'b', issuer: 'US' }), { value: 1 })
  })

  it('is never two bank accounts, emails, phones, devices or addresses', () => {
    for (const type of ['bank_account', 'email', 'phone', 'device', 'address'] as const)
      assert.deepEqual(conflicts({ type, hash: 'a', issuer: 'x' }, { type, hash: 'b', issuer: 'x' }), { value: 0 })
  })

  it('ends when one of the two fails', () => {
    const both = [link({ status: 'verified', at: july(1) }), link({ hash: 'b', status: 'verified', at: july(1) })]
    assert.deepEqual(featureOf(stateOf(...both), 'identity.conflicts'), { value: 1 })
    const failed = link({ status: 'failed', at: july(2) })
    assert.deepEqual(featureOf(stateOf(...both, failed), 'identity.conflicts'), { value: 0 })
  })

  it('is not hidden by checking more identifiers than are kept', () => {
    const verified = ['a', 'b'].map((hash) => link({ hash, status: 'verified', at: july(1) }))
    const failed = Array.from({ length: 8 }, (_, index) => link({ hash: `c${index}`, status: 'failed', at: july(2) }))
    for (const state of [stateOf(...verified, ...failed), stateOf(...failed, ...verified)])
      assert.deepEqual(featureOf(state, 'identity.conflicts'), { value: 1 })
    const devices = Array.from({ length: 20 }, (_, index) =>
      link({ type: 'device', hash: `d${index}`, status: 'verified', at: july(1) }),
    )
    assert.deepEqual(featureOf(stateOf(...devices), 'identity.conflicts'), { value: 0 })
  })
})

type Check = { at: string; status: 'verified' | 'failed' }

/** The expected facts, computed from all links at once. */
function latestChecks(links: readonly IdentityLinkFact[]): Map<string, Check> {
  const latest = new Map<string, Check>()
  for (const { identifier, verification, createdAt: at } of links) {
    const status = verification.status as Check['status']
    const hash = identifier!.hash.slice(0, 16)
    const known = latest.get(hash)
    if (!known || at > known.at || (at === known.at && status === 'failed')) latest.set(hash, { at, status })
  }
  return latest
}

const inTwoOrders = fc
  .array(
    fc.record({
      hash: fc.integer({ min: 0, max: 13 }).map((number) => `h${number}`),
      status: fc.constantFrom('verified', 'failed'),
      at: fc.integer({ min: 1, max: 6 }).map(july),
    }),
    { maxLength: 40, size: 'max' },
  )
  .chain((all) => {
    const shuffled = fc.shuffledSubarray(all.map(link), { minLength: all.length })
    return fc.tuple(shuffled, shuffled)
  })
