/** The life of a policy through the operations of the console: draft, proposal, backtest, approval, activation, rollback. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConsoleClient, signedInOperator } from './console-client.ts'
import { holdBacktests } from './hold-backtests.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const person = (email: string, role: 'policy_author' | 'policy_approver' | 'admin') =>
  signedInOperator(api, { organizationId: acme.id, email, role })
const [ann, ben, cay] = [
  await person('ann@example.com', 'policy_author'),
  await person('ben@example.com', 'policy_approver'),
  await person('cay@example.com', 'admin'),
]

async function call(client: ConsoleClient, name: string, input: object, expected = 200) {
  const { status, body } = await client.call(`${acme.id}/sandbox/${name}`, input)
  assert.equal(status, expected, `${name}: ${JSON.stringify(body).slice(0, 500)}`)
  return body
}

const lending2 = sandboxPolicySource()
  .replace('version: sandbox-policy-v1', 'version: lending-2')
  .replace('cutoff: 550', 'cutoff: 551')

let keys = 0
async function underwrite() {
  const entity = await acme.post('/v1/entities', { external_id: `e-${keys}`, type: 'person' })
  const body = { entity_id: entity.body.id, product: 'loan', requested_amount: 1_000, currency: 'EUR' }
  const answer = await acme.post('/v1/underwrite', body, { 'Idempotency-Key': `policies-${keys++}` })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

async function backtested(version: string): Promise<string> {
  const { id } = await call(ann, 'policy-backtests.begin', { version, last: 1_000 })
  for (;;) {
    const { running, failure, backtests } = await call(ann, 'policy-backtests.list', { version })
    assert.equal(failure, null)
    if (running === null && backtests[0]?.id === id) return id
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('a draft is checked with positions, its tests run, and it is compared with the active policy', async () => {
  const broken = await call(ann, 'policies.check', { source: lending2.replace('cutoff: 551', 'cutof: 551') })
  const line = lending2.split('\n').findIndex((text) => text.includes('cutoff: 551')) + 1
  assert.ok(broken.problems.some((problem: { line: number }) => Math.abs(problem.line - line) <= 1))
  assert.equal(broken.document, null)
  const failing = await call(ann, 'policies.check', { source: lending2.replace('cutoff: 551', 'cutoff: 700') })
  assert.ok(failing.tests.some(({ failures }: { failures: string[] }) => failures.length > 0))
  const sound = await call(ann, 'policies.check', { source: lending2 })
  assert.deepEqual([sound.problems, sound.version, sound.is_version_taken], [[], 'lending-2', false])
  assert.equal(sound.compared.summary, 'cutoff 550 → 551')
  assert.ok(sound.tests.every(({ failures }: { failures: string[] }) => failures.length === 0))
})

test('a draft says how many of the newest decisions each of its rules matches, and nothing is kept', async () => {
  await underwrite()
  const tried = await call(ann, 'policy-backtests.try', { source: lending2, last: 500 })
  assert.equal(tried.decided, 1)
  assert.ok(tried.rules.length > 10)
  assert.ok(tried.rules.some(({ matched }: { matched: number }) => matched === 1))
  assert.equal((await call(ann, 'policies.list', {})).policies.length, 1)
})

test('a policy goes from proposal to activation and back, and the API names the version that decides', async () => {
  const before = await underwrite()
  const proposed = await call(ann, 'policies.propose', { source: lending2, reason: 'Loss at the cutoff.' })
  await call(ben, 'policies.comment', { version: 'lending-2', text: 'Are reviewers ready?' })
  await call(ann, 'policies.approve', { version: 'lending-2', reason: 'Mine.', shown_backtest: null }, 403)
  const first = await backtested('lending-2')
  const { result } = await call(ben, 'policy-backtests.show', { id: first })
  assert.ok(result.decided >= 2)
  await call(ben, 'policies.approve', { version: 'lending-2', reason: 'Read.', shown_backtest: null }, 409)
  await call(ben, 'policies.activate', { version: 'lending-2', reason: 'Too early.' }, 409)
  await call(ben, 'policies.approve', { version: 'lending-2', reason: 'Read.', shown_backtest: first })
  await call(ben, 'policies.activate', { version: 'lending-2', reason: 'Agreed.' })

  const shown = await call(cay, 'policies.show', { version: 'lending-2' })
  assert.equal(shown.policy.state, 'active')
  assert.deepEqual(
    shown.steps.map(({ step, reason }: { step: string; reason: string }) => [step, reason]),
    [
      ['proposed', 'Loss at the cutoff.'],
      ['approved', 'Read.'],
      ['activated', 'Agreed.'],
    ],
  )
  assert.equal(shown.steps[1].backtest_id, first)
  assert.equal(shown.comments[0].text, 'Are reviewers ready?')

  await new Promise((resolve) => setTimeout(resolve, 600)) // nodes cache the active policy for half a second
  const after = await underwrite()
  assert.deepEqual([after.policy_version, after.policy_checksum], ['lending-2', proposed.checksum])
  await call(ben, 'policies.activate', { version: 'sandbox-policy-v1', reason: 'Approval rate fell.' })
  await new Promise((resolve) => setTimeout(resolve, 600))
  assert.deepEqual((await underwrite()).policy_checksum, before.policy_checksum)
  const list = await call(cay, 'policies.list', {})
  assert.deepEqual(
    list.policies.map(({ version, state }: { version: string; state: string }) => [version, state]),
    [
      ['lending-2', 'retired'],
      ['sandbox-policy-v1', 'active'],
    ],
  )
  const { version, cutoff, tiers, rules, activated } = list.active
  assert.deepEqual([version, cutoff, tiers[0], tiers.at(-1)], ['sandbox-policy-v1', 550, 'A+', 'E'])
  assert.ok(rules > list.active.declining_rules + list.active.reviewing_rules)
  assert.match(activated.by, /@|^[A-Z]/)
})

test('an author cannot approve their own policy, also as an admin, and the page says who may', async () => {
  const source = lending2.replace('version: lending-2', 'version: lending-3')
  await call(cay, 'policies.propose', { source, reason: 'Again.' })
  await call(cay, 'policies.approve', { version: 'lending-3', reason: 'Mine.', shown_backtest: null }, 403)
  const { approvers } = await call(cay, 'policies.show', { version: 'lending-3' })
  const may = approvers.filter(({ may_approve }: { may_approve: boolean }) => may_approve)
  assert.deepEqual(
    may.map(({ id }: { id: string }) => id),
    [ben.operatorId],
  )
  await call(ben, 'policies.reject', { version: 'lending-3', reason: 'Not now.' })
})

test('a backtest is cancelled with a reason, which is on the audit log', async () => {
  await call(ann, 'policy-backtests.cancel', { reason: 'None runs.' }, 409)
  const release = holdBacktests(api.service.installation.stores.sandbox)
  const { id } = await call(ann, 'policy-backtests.begin', { version: 'lending-2', last: 1_000 })
  await call(ann, 'policy-backtests.cancel', { reason: 'Wrong period.' })
  release()
  const { running, failure, backtests } = await call(ann, 'policy-backtests.list', { version: 'lending-2' })
  assert.deepEqual([running, failure], [null, 'It was cancelled.'])
  assert.ok(!backtests.some((backtest: { id: string }) => backtest.id === id))
  const { entries } = await call(cay, 'audit-log.list', { type: 'policy.backtest_cancelled' })
  assert.deepEqual(
    entries.map(({ data }: { data: { reason: string } }) => data.reason),
    ['Wrong period.'],
  )
})

test('unknown versions and backtests are not found', async () => {
  await call(cay, 'policies.show', { version: 'nowhere' }, 404)
  await call(cay, 'policy-backtests.list', { version: 'nowhere' }, 404)
  await call(cay, 'policy-backtests.show', { id: 'bkt_nowhere' }, 404)
})
