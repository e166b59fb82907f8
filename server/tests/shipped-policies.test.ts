import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { runPolicyTests } from '../src/core/decide/run-policy-tests.ts'
import { describeProblem } from '../src/core/policy/check/policy-problem.ts'
import { parsePolicy } from '../src/core/policy/parse-policy.ts'
import { activateDocument } from './activate-document.ts'
import { startTestService } from './test-service.ts'

const FOLDER = new URL('../../policies/', import.meta.url)
const files = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'))
const validate = new Ajv2020({ allErrors: true }).compile(
  JSON.parse(readFileSync(new URL('policy.schema.json', FOLDER), 'utf8')),
)

describe('every policy that ships', () => {
  assert.ok(files.length >= 2)
  for (const file of files) {
    const source = readFileSync(new URL(file, FOLDER), 'utf8')

    it(`${file} is valid without a warning, and all of its tests pass`, () => {
      const result = parsePolicy(source)
      assert.ok('policy' in result, 'problems' in result ? result.problems.map(describeProblem).join('\n') : '')
      assert.deepEqual(result.warnings.map(describeProblem), [])
      const tests = runPolicyTests(result.policy)
      assert.ok(tests.length >= 12, `${tests.length} tests`)
      assert.deepEqual(
        tests.filter(({ failures }) => failures.length > 0),
        [],
      )
      assert.ok(validate(parse(source)), JSON.stringify(validate.errors))
    })
  }
})

describe('a lender without bank data', async () => {
  const api = await startTestService()
  const lender = await api.newOrganization()
  const document = parse(readFileSync(new URL('bureau-snapshot-v1.yaml', FOLDER), 'utf8'))
  await activateDocument(api.service.installation, document, { organizationId: lender.id })
  let keys = 0

  async function applicant(features: Record<string, number | string>): Promise<string> {
    const { body: entity } = await lender.post('/v1/entities', { external_id: `applicant-${keys++}`, type: 'person' })
    const consent = {
      purpose: 'credit_underwriting',
      status: 'granted',
      data_categories: ['features'],
      granted_at: new Date(Date.now() - 3_600_000).toISOString(),
    }
    assert.equal((await lender.post(`/v1/entities/${entity.id}/consents`, consent)).status, 201)
    const link = {
      identifier: { type: 'government_id', value: `ID-${keys}-4711`, issuer: 'DE' },
      verification: { status: 'verified', verified_at: new Date(Date.now() - 3_600_000).toISOString() },
    }
    assert.equal((await lender.post(`/v1/entities/${entity.id}/identity-links`, link)).status, 201)
    const snapshot = { source: 'bureau', as_of: new Date(Date.now() - 3_600_000).toISOString(), features }
    assert.equal((await lender.post(`/v1/entities/${entity.id}/feature-snapshots`, snapshot)).status, 201)
    return entity.id
  }

  async function underwrite(entityId: string, product = 'personal_loan') {
    const body = { entity_id: entityId, product, requested_amount: 8000, currency: 'EUR' }
    return lender.post('/v1/underwrite', body, { 'Idempotency-Key': `bureau-${keys++}` })
  }

  const GOOD = document.tests[0].facts as Record<string, number | string>
  const sent = Object.fromEntries(
    Object.entries(GOOD).flatMap(([name, value]) => (name.startsWith('snapshot.') ? [[name.slice(9), value]] : [])),
  )

  it('approves by bureau and application alone, at the price of the tier, and the replay shows it', async () => {
    const { status, body } = await underwrite(await applicant(sent))
    assert.equal(status, 201)
    const { body: replay } = await lender.get(`/v1/decisions/${body.id}/replay`)
    assert.equal(replay.matches, true)
    const { segment, product, derived, feature_snapshot, rule_trace } = replay.evidence
    // Three in a hundred entities are in the sample; ids are random.
    const isSampled = feature_snapshot['request.hash'].value < 300
    assert.equal(body.verdict, isSampled ? 'manual_review' : 'approve')
    assert.deepEqual([body.risk_tier, segment, product.annual_rate], ['Prime', null, 0.069])
    assert.ok(product.instalment > 200)
    const free = derived.find(({ feature }: { feature: string }) => feature === 'derived.free_income')
    assert.equal(free.value, 3200 - 900 - 250)
    assert.equal(rule_trace.find(({ rule }: { rule: string }) => rule === 'quality_sample').holds, isSampled)
  })

  it('judges an applicant whom the bureau does not know in a segment of its own', async () => {
    const stated = Object.fromEntries(Object.entries(sent).filter(([name]) => name.startsWith('application.')))
    const { body } = await underwrite(await applicant(stated))
    const { body: replay } = await lender.get(`/v1/decisions/${body.id}/replay`)
    // Three in a hundred entities are in the sample; ids are random.
    const isSampled = replay.evidence.feature_snapshot['request.hash'].value < 300
    assert.deepEqual(
      [body.risk_tier, body.verdict, body.recommended_limit],
      ['Starter plus', ...(isSampled ? ['manual_review', undefined] : ['approve_with_conditions', 3000])],
    )
    assert.deepEqual(
      [replay.matches, replay.evidence.segment, replay.evidence.product.annual_rate],
      [true, 'thin_file', 0.199],
    )
  })

  it('refuses a product that it does not offer', async () => {
    const { status, body } = await underwrite(await applicant(sent), 'car_loan')
    assert.deepEqual([status, body.error.code], [422, 'unknown_product'])
  })
})
