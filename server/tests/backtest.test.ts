/** Backtests of policies on recorded decisions, through the admin functions and the command line. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backtestDraft, beginBacktest, type KeptBacktest } from '../src/admin/backtest-policy.ts'
import { addOperator } from '../src/admin/manage-operators.ts'
import { activatePolicy, approvePolicy, proposePolicy } from '../src/admin/manage-policies.ts'
import { BacktestCancelled, runBacktest } from '../src/admin/run-backtest.ts'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { policyBacktest } from '../src/cli/policy-backtest.ts'
import { decide } from '../src/core/decide/decide.ts'
import type { Facts } from '../src/core/facts/facts.ts'
import { parsePolicy } from '../src/core/policy/parse-policy.ts'
import { VERDICTS } from '../src/core/vocabularies.ts'
import { byOperator, byService } from './acts.ts'
import { storedDocuments } from './alter-documents.ts'
import { copyDecisions } from './copy-decisions.ts'
import { type Persona, personas } from './personas.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { tamper } from './tamper.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const { installation } = api.service
const store = installation.stores.sandbox
const database = installation.storage.environments.sandbox
const ACT = byService(acme.id)
const ALL = { last: 1_000 }

/** The shipped policy under another name, with a cutoff that few applicants reach. */
const strictSource = (version: string) =>
  sandboxPolicySource()
    .replace('version: sandbox-policy-v1', `version: ${version}`)
    .replace('cutoff: 550', 'cutoff: 615')
    .replace(/\ntests:[\s\S]*$/, STRICT_TESTS)
const STRICT_TESTS = `
tests:
  - name: nothing known is neither a yes nor a no
    facts: { request.amount: 3000, request.currency: EUR }
    expect:
      verdict: manual_review
`

let keys = 0
async function decidePersona({ entity, identityLinks, consents, transactions, underwrite }: Persona): Promise<string> {
  const { body } = await acme.post('/v1/entities', { ...entity, external_id: `${entity.external_id}-${keys}` })
  const post = async (path: string, item: unknown) => {
    const answer = await acme.post(path, item, { 'Idempotency-Key': `backtest-${keys++}` })
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }
  for (const link of identityLinks) await post(`/v1/entities/${body.id}/identity-links`, link)
  for (const consent of consents) await post(`/v1/entities/${body.id}/consents`, consent)
  if (transactions.length > 0) await post(`/v1/entities/${body.id}/transactions`, { transactions })
  return (await post('/v1/underwrite', { entity_id: body.id, ...underwrite })).id
}

const decided: string[] = []
for (const persona of personas(new Date().toISOString())) decided.push(await decidePersona(persona))
await acme.post(`/v1/decisions/${decided[0]}/outcomes`, { type: 'default', occurred_at: new Date().toISOString() })

async function operator(name: string, role: 'policy_author' | 'policy_approver') {
  const added = await addOperator(installation, byService(acme.id), { email: `${name}@example.com`, name, role })
  return byOperator(added, { reason: `the reason of ${name}` })
}
const [ann, ben] = [await operator('ann', 'policy_author'), await operator('ben', 'policy_approver')]

async function propose(version: string): Promise<void> {
  await proposePolicy(installation, ann, strictSource(version))
}

async function backtest(version: string): Promise<KeptBacktest> {
  const { done } = await beginBacktest(installation, ACT, { version, range: ALL })
  return done
}

/** The number of rows of each table of the sandbox, but for what background jobs write. */
async function rowCounts(): Promise<Record<string, number>> {
  const tables = await database.query<{ name: string }>(
    'SELECT table_name::text AS name FROM information_schema.tables WHERE table_schema = $1 ORDER BY 1',
    [database.schema],
  )
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    if (
      /^(audit_(flushes|nodes|heads|pending|announced)|leases|node_heartbeats|unchecked_decisions|consequences)$/.test(
        name,
      )
    )
      continue
    counts[name] = (await database.query<{ count: number }>(`SELECT count(*) AS count FROM ${name}`))[0]!.count
  }
  return counts
}

test('a backtest gives each recorded decision the verdict that decide gives on its facts', async () => {
  await propose('strict-1')
  const result = await backtest('strict-1')
  const parsed = parsePolicy(strictSource('strict-1'))
  assert.ok('policy' in parsed)
  const decisions = await database.query<{ id: string; verdict: string }>(
    'SELECT id, verdict FROM decisions WHERE org_id = $1',
    [acme.id],
  )
  const rows = await Promise.all(
    decisions.map(async ({ id, verdict }) => ({ verdict, ...(await storedDocuments(database, id)) })),
  )
  const expected = rows.map((row) => ({
    id: row.decision_id,
    before: row.verdict,
    after: decide(parsed.policy, JSON.parse(row.facts) as Facts).verdict,
  }))
  assert.equal(result.decided, expected.length)
  assert.ok(expected.length >= 7)
  for (const before of VERDICTS)
    for (const after of VERDICTS) {
      const count = expected.filter((one) => one.before === before && one.after === after).length
      assert.equal(result.matrix[before][after], count, `${before} → ${after}`)
    }
  const changed = expected.filter(({ before, after }) => before !== after).map(({ id }) => id)
  assert.ok(changed.length > 0, 'the policy has to change a verdict, or the test shows nothing')
  assert.deepEqual(result.changed_cases.map(({ decision_id }) => decision_id).sort(), changed.sort())
  const limits = rows
    .filter(({ verdict, body }) => verdict.startsWith('approve') && 'recommended_limit' in JSON.parse(body))
    .map(({ body, facts }) => ({ ...JSON.parse(body), ...JSON.parse(facts) }))
    .map(({ recommended_limit: limit, features: { 'request.currency': currency } }) => {
      return limit / parsed.policy.currencies.get(currency.value)!.perReference
    })
  assert.ok(limits.length > 0)
  const lent = limits.reduce((sum, limit) => sum + limit, 0)
  assert.ok(Math.abs(result.before.amount - lent) < 0.01, `${result.before.amount} of ${lent}`)
  assert.deepEqual([result.headline.before.known, result.headline.before.bad], [1, 1])
})

test('a backtest of many pages decides every decision once, and the newest first', async () => {
  const other = await api.newOrganization()
  const COPIES = 300
  await copyDecisions(database, { from: acme.id, to: other.id, copies: COPIES })
  const source = strictSource('draft')
  const one = await backtestDraft(installation, ACT, { source, range: ALL })
  const many = await backtestDraft(installation, byService(other.id), { source, range: { last: 100_000 } })
  assert.ok(many.decided > 1_500, 'more pages than a machine has threads for it')
  assert.deepEqual([many.decided, many.changed], [one.decided * COPIES, one.changed * COPIES])
  for (const before of VERDICTS)
    for (const after of VERDICTS) assert.equal(many.matrix[before][after], one.matrix[before][after] * COPIES)
  assert.deepEqual(
    many.rules.map(({ rule, matched }) => [rule, matched]),
    one.rules.map(({ rule, matched }) => [rule, matched * COPIES]),
  )
  const listed = many.changed_cases.map(({ decision_id }) => decision_id)
  assert.deepEqual(listed, listed.toSorted().reverse())
  assert.match(listed[0]!, /^dec_00300/)
})

test('a backtest writes its result and its audit entry, and nothing else', async () => {
  await propose('strict-2')
  const before = await rowCounts()
  await backtest('strict-2')
  const after = await rowCounts()
  const written = Object.keys(after).filter((table) => after[table] !== before[table])
  assert.deepEqual(written, ['audit_entries', 'policy_backtests'])
  const draft = await backtestDraft(installation, ACT, { source: strictSource('draft'), range: ALL })
  assert.ok(draft.decided > 0)
  assert.deepEqual(await rowCounts(), after)
})

test('only decisions of the period, and the newest of them, are decided again', async () => {
  const whole = await backtestDraft(installation, ACT, { source: sandboxPolicySource(), range: ALL })
  assert.equal(whole.changed, 0)
  const two = await backtestDraft(installation, ACT, { source: sandboxPolicySource(), range: { last: 2 } })
  assert.deepEqual([two.decided, two.last_at], [2, whole.last_at])
  const middle = Date.parse(two.first_at!)
  const range = { last: 1_000, toMs: middle }
  const older = await backtestDraft(installation, ACT, { source: sandboxPolicySource(), range })
  assert.equal(older.decided, whole.decided - 2)
  const newer = await backtestDraft(installation, ACT, {
    source: sandboxPolicySource(),
    range: { last: 1_000, fromMs: middle },
  })
  assert.equal(newer.decided, 2)
  const other = await api.newOrganization()
  const none = await backtestDraft(installation, byService(other.id), { source: sandboxPolicySource(), range: ALL })
  assert.equal(none.decided, 0)
})

test('a backtest is refused for too many decisions, an unknown version and a policy that does not compile', async () => {
  const tooMany = beginBacktest(installation, ACT, { version: 'strict-1', range: { last: 100_001 } })
  await assert.rejects(tooMany, { code: 'backtest_size_invalid', message: 'A backtest takes 1 to 100000 decisions.' })
  const unknown = beginBacktest(installation, ACT, { version: 'nowhere', range: ALL })
  await assert.rejects(unknown, { code: 'policy_not_found' })
  const broken = backtestDraft(installation, ACT, { source: 'version: x', range: ALL })
  await assert.rejects(broken, { code: 'policy_invalid', message: /required/ })
})

test('a backtest of an altered policy fails, and the run says why', async () => {
  await propose('strict-3')
  await tamper(database, "UPDATE policies SET document = replace(document, '615', '614') WHERE version = $1", [
    'strict-3',
  ])
  const { done } = await beginBacktest(installation, ACT, { version: 'strict-3', range: ALL })
  const why = 'Its document is not the one that was proposed.'
  await assert.rejects(done, { code: 'policy_unusable', message: `strict-3 cannot decide. ${why}` })
  const run = await store.backtestRuns.newest(acme.id)
  assert.deepEqual([run?.is_running, run?.failure], [false, why])
})

test('a caller that ends a backtest stops it between two pages', async () => {
  const policy = { source: sandboxPolicySource() }
  const parts = { store, threads: installation.threads, nowMs: installation.nowMs() }
  const client = { organizationId: acme.id }
  const run = runBacktest(parts, { client, policy, range: ALL, onProgress: async () => false })
  await assert.rejects(run, BacktestCancelled)
})

test('an approval is bound to the backtest that the approver was shown', async () => {
  await propose('strict-4')
  const first = await backtest('strict-4')
  const second = await backtest('strict-4')
  const approve = (shownBacktest: string) => approvePolicy(installation, ben, { version: 'strict-4', shownBacktest })
  await assert.rejects(approve(first.id), { code: 'backtested_again' })
  assert.equal((await approve(second.id)).state, 'approved')
  const policy = await store.policies.byVersion(acme.id, 'strict-4')
  const step = (await store.policies.steps(acme.id, policy!.id)).at(-1)!
  const { backtest: shown } = JSON.parse(step.evidence)
  assert.deepEqual([shown.id, shown.decided, shown.changed], [second.id, second.decided, second.changed])

  await tamper(
    database,
    `UPDATE policy_backtests SET result = replace(result, '"changed"', '"changes"') WHERE id = $1`,
    [second.id],
  )
  await assert.rejects(activatePolicy(installation, ben, 'strict-4'), { code: 'backtest_altered' })
})

test('audit verify names a backtest that was altered, and an approval without a backtest says so', async () => {
  await propose('strict-5')
  await approvePolicy(installation, ben, { version: 'strict-5', shownBacktest: null })
  const policy = await store.policies.byVersion(acme.id, 'strict-5')
  const step = (await store.policies.steps(acme.id, policy!.id)).at(-1)!
  assert.equal(JSON.parse(step.evidence).backtest, null)
  assert.equal((await activatePolicy(installation, ben, 'strict-5')).state, 'active')
  assert.ok((await backtest('strict-5')).decided > 0)
  // A backtest of the active policy does not hide its activation, which its trail has to end with.
  const prime = personas(new Date().toISOString())[0]!
  assert.ok(await decidePersona(prime))

  const { knownHeads, masterKey } = installation
  const publicKeys = [masterKey.auditSigningKey('sandbox').publicKey]
  const people = installation.stores.production
  const log = {
    organizationId: acme.id,
    environment: 'sandbox',
    store,
    people,
    control: installation.storage.control,
    knownHeads: knownHeads.sandbox,
  } as const
  const deadline = Date.now() + 20_000
  let problems: string[] = []
  while (!problems.some((problem) => /backtest/.test(problem)) && Date.now() < deadline) {
    problems = (await verifyAuditLog({ ...log, publicKeys })).problems
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  assert.match(problems.join('\n'), /The backtest bkt_\w+ was changed/)
})

test('policy backtest prints the matrix, and keeps the result of a version but not of a file', async () => {
  const input = { options: { org: acme.id }, positionals: ['strict-1'], caller: 'alice (uid 1000)' }
  const kept = await policyBacktest.run(installation, input)
  assert.ok('id' in kept && kept.id.startsWith('bkt_'), JSON.stringify(kept))
  const text = policyBacktest.render(kept)
  assert.match(text, /^Decisions decided again: \d+, made from \S+ to \S+\. With another verdict: \d+\.$/m)
  assert.match(text, /approve_with_conditions/)
  assert.match(text, /No longer approved: \d+/)
  const draft = await policyBacktest.run(installation, {
    ...input,
    options: { ...input.options, source: strictSource('file'), last: '3' },
  })
  assert.deepEqual(['id' in draft, draft.decided], [false, 3])
  const wrong = policyBacktest.run(installation, { ...input, options: { ...input.options, from: 'yesterday' } })
  await assert.rejects(wrong, { code: 'time_invalid' })
})
