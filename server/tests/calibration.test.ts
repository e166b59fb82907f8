/** Calibration of the active policy to recorded outcomes: the report, the version that it proposes, the alarm, the command. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { backtestDraft } from '../src/admin/backtest-policy.ts'
import { draftCalibration, readCalibration, watchCalibration } from '../src/admin/calibrate-policy.ts'
import { policyCalibrate } from '../src/cli/policy-calibrate.ts'
import { canonicalJson, sha256 } from '../src/core/canonical-json.ts'
import { registerCalibration } from '../src/metrics/upkeep-metrics.ts'
import { calibrationTask } from '../src/service/watch-calibration.ts'
import { byService } from './acts.ts'
import { copyWithOutcomes } from './known-outcomes.ts'
import { personas } from './personas.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const { installation } = api.service
const store = installation.stores.sandbox
const database = installation.storage.environments.sandbox
const VERSION = 'sandbox-policy-v1'
const COPIES = 400
const BAD = 30

const origin = await api.newOrganization()
const prime = personas(new Date().toISOString())[0]!
const { body: entity } = await origin.post('/v1/entities', prime.entity)
for (const link of prime.identityLinks) await origin.post(`/v1/entities/${entity.id}/identity-links`, link)
for (const consent of prime.consents) await origin.post(`/v1/entities/${entity.id}/consents`, consent)
const body = { transactions: prime.transactions }
await origin.post(`/v1/entities/${entity.id}/transactions`, body, { 'Idempotency-Key': 'transactions' })
const request = { entity_id: entity.id, ...prime.underwrite }
const decided = await origin.post('/v1/underwrite', request, { 'Idempotency-Key': 'decide' })
assert.equal(decided.body.verdict, 'approve')

/** An organization with copies of the decision, of which the first ones ended badly and the others well. */
async function portfolio({ bad, areOfOne = false }: { bad: number; areOfOne?: boolean }): Promise<string> {
  const { id } = await api.newOrganization()
  await copyWithOutcomes(database, { from: origin.id, to: id, copies: COPIES, bad, areOfOne })
  return id
}

const placeOf = (organizationId: string) => ({ environment: 'sandbox', organizationId }) as const
const policyOf = async (organizationId: string) => (await store.policies.byVersion(organizationId, VERSION))!
const worse = await portfolio({ bad: BAD })
const better = await portfolio({ bad: 0 })

test('a portfolio that is worse than its policy expects has parted from it, and the points that are proposed fit', async () => {
  const report = await readCalibration(installation, placeOf(worse), await policyOf(worse))
  const expected = 1 - decided.body.repayment_probability
  assert.ok(Math.abs(report.expected! - expected) < 1e-4)
  assert.deepEqual([report.observed.known, report.observed.bad, report.observed.share], [COPIES, BAD, BAD / COPIES])
  assert.ok(Math.abs(report.independent - COPIES) < 1e-6)
  assert.equal(report.has_parted, true)
  assert.deepEqual(
    report.bands.map(({ observed }) => observed.known),
    [COPIES],
  )
  const [proposal] = report.proposals
  assert.ok(
    proposal!.points < 0 && proposal!.points_low <= proposal!.points && proposal!.points <= proposal!.points_high,
  )

  const { source } = await draftCalibration(installation, byService(worse), {
    version: VERSION,
    newVersion: 'fitted-1',
  })
  assert.match(source, /^version: "fitted-1"$/m)
  const range = { last: 1_000, withOutcome: true }
  const { calibration } = await backtestDraft(installation, byService(worse), { source, range })
  assert.equal(calibration.has_parted, false)
  assert.ok(Math.abs(calibration.expected! - BAD / COPIES) < 0.01, String(calibration.expected))
  const now = calibration.proposals[0]!
  assert.deepEqual([now.points, now.points_now], [proposal!.points, proposal!.points])
})

test('decisions that are too young for their outcome to count take no place of older ones', async () => {
  const funded = { type: 'funded', occurred_at: new Date().toISOString() }
  assert.equal((await origin.post(`/v1/decisions/${decided.body.id}/outcomes`, funded)).status, 201)
  const { document, ...policy } = await policyOf(origin.id)
  const decidedUnder = async (maturity_days: number) => {
    const slow = canonicalJson({ ...JSON.parse(document), portfolio: { maturity_days } })
    const given = { ...policy, document: slow, checksum: sha256(slow) }
    return (await readCalibration(installation, placeOf(origin.id), given)).decided
  }
  assert.deepEqual([await decidedUnder(0), await decidedUnder(365)], [1, 0])
})

test('outcomes of one entity, and of too few decisions, tell nothing and propose nothing', async () => {
  const one = await portfolio({ bad: BAD, areOfOne: true })
  const report = await readCalibration(installation, placeOf(one), await policyOf(one))
  assert.deepEqual([report.observed.known, report.has_parted, report.proposals], [COPIES, false, []])
  assert.ok(Math.abs(report.independent - 1) < 1e-6)
  await assert.rejects(draftCalibration(installation, byService(one), { version: VERSION }), {
    code: 'calibration_unknown',
  })
  assert.equal(await watchCalibration(installation, placeOf(origin.id)), null, 'one decision without an outcome')
  const lucky = (await watchCalibration(installation, placeOf(better)))!
  assert.equal(lucky.has_parted, true, 'none of 400 is less than expected')
  assert.ok(lucky.proposals[0]!.points > 0 && lucky.proposals[0]!.points < 300)
})

test('the watch measures each organization once a day, sets the metric and logs the alarm', async () => {
  const lines: object[] = []
  const registry = new Registry()
  const note = registerCalibration(registry)
  const logger = { warn: (line: object) => lines.push(line) }
  const task = calibrationTask({ installation, environment: 'sandbox', logger: logger as never, note })
  const dayMs = Date.parse('2026-11-20T00:00:00.000Z')
  let rounds = 1
  while (await task(dayMs)) rounds++
  assert.ok(rounds >= 5, 'an organization a round')
  const alarms = [worse, better].sort().map(async (organization_id) => {
    const { expected, observed } = await readCalibration(installation, placeOf(organization_id), await policyOf(worse))
    const names = { alarm: 'calibration_parted', organization_id, environment: 'sandbox', policy_version: VERSION }
    return { ...names, expected, observed }
  })
  assert.deepEqual(lines, await Promise.all(alarms))
  assert.match(await registry.metrics(), /verdigraph_calibration_parted\{environment="sandbox"\} 2/)
  assert.equal(await task(dayMs + 3_600_000), false)
  assert.equal(await task(dayMs + 86_400_000), true)
})

test('policy calibrate compares by score, and prints the text of a new version', async () => {
  const input = { options: { org: worse }, positionals: [VERSION], caller: 'alice (uid 1000)' }
  const text = policyCalibrate.render(await policyCalibrate.run(installation, input))
  assert.match(text, /^PARTED: what sandbox-policy-v1 expects is outside/)
  assert.match(text, /^all +\d\.\d % +30 of 400, 7\.5 % \(5\.\d % to 10\.\d %\)/m)
  assert.match(text, /^calibration_points: -\d+ would fit \(-\d+ to -\d+\); now 0\.$/m)
  const drafted = await policyCalibrate.run(installation, {
    ...input,
    options: { ...input.options, draft: 'fitted-2' },
  })
  assert.match(policyCalibrate.render(drafted), /\nversion: "fitted-2"\n[\s\S]*\n {2}calibration_points: -\d+\n/)
})
