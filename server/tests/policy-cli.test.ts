import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Authenticator } from './authenticator.ts'
import { call, callForJson } from './command-line.ts'
import { sandboxPolicy, sandboxPolicySource } from './sandbox-policy.ts'
import { startServiceProcess } from './service-process.ts'
import { createTestStorage } from './test-storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'verdigraph-policies-'))
const testStorage = await createTestStorage()
const service = await startServiceProcess(testStorage.env)
after(async () => {
  await service.stop()
  await testStorage.remove()
  rmSync(folder, { recursive: true })
})

const SHIPPED = 'policies/sandbox-policy-v1.yaml'
const TESTS = sandboxPolicy().document.tests!.length
const noInstallation = { DATA_DIR: join(folder, 'no-installation') }

/** Writes the shipped policy to a file, under another version and with one text replaced. */
function policyFile(name: string, from: string, to: string): string {
  const source = sandboxPolicySource().replace('version: sandbox-policy-v1', `version: ${name}`)
  assert.ok(source.includes(from))
  const file = join(folder, `${name}.yaml`)
  writeFileSync(file, source.replace(from, to))
  return file
}

const policy = (...args: string[]) => call(testStorage.env, 'policy', ...args)
const json = (...args: string[]) => callForJson(testStorage.env, ...args)

const authenticators = new Map<string, Authenticator>()
async function addOperator(name: string, role: string): Promise<void> {
  const added = await json('operators', 'add', `${name}@example.com`, '--name', name, '--role', role)
  assert.equal(added.role, role)
  authenticators.set(name, new Authenticator(added.code_secret))
}

const because = (name: string) => ['--reason', `${name} has read it`]
const as = (name: string) => {
  const code = authenticators.get(name)?.next() ?? '000000'
  return ['--as', `${name}@example.com`, '--code', code, ...because(name)]
}

test('a policy file is checked, tested and compared without any installation', async () => {
  const { checksum } = sandboxPolicy()
  const sound = await call(noInstallation, 'policy', 'check', SHIPPED)
  assert.deepEqual([sound.status, sound.stderr], [0, ''])
  const lines = sound.stdout.split('\n')
  assert.equal(lines[0], `${SHIPPED}: sandbox-policy-v1 is valid; all ${TESTS} tests pass`)
  assert.equal(lines.at(-2), `checksum ${checksum}`)
  const tested = await call(noInstallation, 'policy', 'test', SHIPPED, '--json')
  assert.equal(JSON.parse(tested.stdout).tests.length, TESTS)
  const changed = policyFile('changed', 'when: history.abuse > 0', 'when: history.abuse > 1')
  assert.equal(
    (await call(noInstallation, 'policy', 'diff', SHIPPED, changed)).stdout,
    [
      'changed    /version: "sandbox-policy-v1" → "changed"',
      'changed    /rules/abuse_on_record/when: "history.abuse > 0" → "history.abuse > 1"',
      '',
    ].join('\n'),
  )
  assert.equal(existsSync(noInstallation.DATA_DIR), false, 'and none is created')
  assert.match((await call(noInstallation, 'policy', 'list')).stderr, /not set up yet/)
})

test('a new policy starts as a short file that is valid, and never replaces one', async () => {
  const file = join(folder, 'start-1.yaml')
  const written = await call(noInstallation, 'policy', 'new', file)
  assert.equal(written.stdout, `Wrote ${file}. Edit it, then run: policy check ${file}\n`)
  const checked = await call(noInstallation, 'policy', 'check', file)
  assert.match(checked.stdout, /start-1 is valid; all \d+ tests pass\nchecksum [0-9a-f]{64}\n$/)
  const again = await call(noInstallation, 'policy', 'new', file)
  assert.equal(again.status, 1)
  assert.match(again.stderr, /start-1\.yaml exists already\. Choose another name, or remove the file\./)
  const misnamed = await call(noInstallation, 'policy', 'new', join(folder, 'a b.yaml'))
  assert.match(misnamed.stderr, /'a b' cannot name a policy/)
})

test('a policy says which of its rules and rows no test reaches', async () => {
  const file = join(folder, 'start-2.yaml')
  await call(noInstallation, 'policy', 'new', file)
  const source = readFileSync(file, 'utf8')
  writeFileSync(file, source.slice(0, source.indexOf('  - name: an account that is overdrawn again')))
  const { status, stdout } = await call(noInstallation, 'policy', 'test', file)
  assert.equal(status, 0)
  assert.match(
    stdout,
    /the tests reach 8 of 10 rules, rows and segments; none reaches row burden_by_overdrafts\/fair, row burden_by_overdrafts\/overdrawn\n$/,
  )
})

test('a policy file is tried on a test and on facts of a file, and says how the verdict came about', async () => {
  const file = join(folder, 'start-3.yaml')
  await call(noInstallation, 'policy', 'new', file)
  const onTest = await call(noInstallation, 'policy', 'try', file, '--test', 'a default on record is declined')
  assert.match(onTest.stdout, /Verdict: decline, settled by knock_out: a rule declines\./)
  assert.match(onTest.stdout, /default_on_record \(decline\): Default or charge-off/)
  const facts = join(folder, 'case.yaml')
  writeFileSync(facts, 'facts:\n  cashflow.monthly_income: 2500\n  request.amount: 3000\n  request.currency: EUR\n')
  const onFacts = await callForJson(noInstallation, 'policy', 'try', file, '--facts', facts)
  assert.deepEqual([onFacts.decision.verdict, onFacts.evidence.settled_by], ['manual_review', 'review_rule'])
  const unnamed = await call(noInstallation, 'policy', 'try', file)
  assert.match(unnamed.stderr, /Name the facts by one of --facts, --test and --entity/)
  const unknown = await call(noInstallation, 'policy', 'try', file, '--test', 'nope')
  assert.match(unknown.stderr, /The policy has no test named 'nope'/)
  writeFileSync(facts, 'facts:\n  cashflow.monthly_income: 2500\n')
  const refused = await call(noInstallation, 'policy', 'try', file, '--facts', facts)
  assert.match(refused.stderr, /'default' is credit under the policy start-3: send requested_amount and currency/)
})

test('a warning is printed with its place, and does not fail the check', async () => {
  const raised = policyFile('raised', 'reference: 67', 'reference: 59')
  const { status, stdout } = await call(noInstallation, 'policy', 'check', raised)
  assert.match(stdout, /raised\.yaml:\d+:\d+ \/verdicts\/cutoff: warning: base and references add up to 549, below/)
  assert.match(stdout, new RegExp(`raised is valid; all ${TESTS} tests pass`))
  assert.equal(status, 0)
})

test('a problem in a policy file is reported with its line and column', async () => {
  const lines = sandboxPolicySource().split('\n')
  const line = lines.findIndex((text) => text.includes('when: history.abuse > 0')) + 1
  const column = lines[line - 1]!.indexOf('history.abuse') + 1
  const misspelt = policyFile('misspelt', 'when: history.abuse > 0', 'when: history.abuze > 0')
  const message = `${misspelt}:${line}:${column} /rules/0/when: rule 'abuse_on_record', column 1: history.abuze is not among the inputs of this policy; add it there, or correct the name\n`
  for (const command of ['check', 'test']) {
    const { status, stdout } = await call(noInstallation, 'policy', command, misspelt)
    assert.deepEqual([status, stdout], [1, message])
  }
  const refused = await policy('propose', misspelt, ...as('ann'))
  assert.deepEqual([refused.status, refused.stdout, refused.stderr], [1, '', message])

  const unknownField = policyFile('unknown-field', 'then: decline', 'than: decline')
  const { status, stdout } = await call(noInstallation, 'policy', 'check', unknownField)
  assert.equal(status, 1)
  assert.ok(stdout.includes(`${unknownField}:${line + 1}:`), stdout)
  assert.match(stdout, /there is no field 'than' here/)

  const failing = policyFile('failing', 'limit: 6000', 'limit: 6001')
  const failed = await call(noInstallation, 'policy', 'test', failing)
  assert.equal(failed.status, 1)
  assert.match(
    failed.stdout,
    /^FAIL {2}a steady account .*\n {6}limit: expected 6001, got 6000\n {6}settled by nothing_against, because .*\npass {2}/,
  )
  assert.match(
    (await call(noInstallation, 'policy', 'check', failing)).stdout,
    new RegExp(`failing\\.yaml: 1 of its ${TESTS} tests fail:`),
  )
  assert.match(
    (await call(noInstallation, 'policy', 'check', join(folder, 'none.yaml'))).stderr,
    /none\.yaml cannot be read\. Check the path/,
  )
})

test('a policy is proposed, approved, activated and replaced by operators of the right roles, with reasons', async () => {
  for (const [name, role] of [
    ['ann', 'policy_author'],
    ['ben', 'policy_approver'],
  ] as const)
    await addOperator(name, role)
  assert.deepEqual(
    (await json('operators', 'list')).map(({ email }: { email: string }) => email),
    ['ann@example.com', 'ben@example.com'],
  )

  const file = policyFile('lending-2', 'when: history.abuse > 0', 'when: history.abuse > 1')
  assert.match((await policy('propose', file, '--reason', 'x')).stderr, /Add --as <email> to name the operator/)
  assert.match((await policy('propose', file, '--as', 'ann@example.com')).stderr, /Add --reason "…" to say why/)
  assert.match(
    (await policy('propose', file, '--as', 'ann@example.com', ...because('ann'))).stderr,
    /Add --code <code> with a one-time code/,
  )
  assert.match((await policy('propose', file, ...as('stranger'))).stderr, /There is no operator stranger@example.com/)
  // Another operator proposes it, because one has few codes in the time that the test takes.
  await addOperator('eve', 'policy_author')
  const raised = policyFile('raised', 'reference: 67', 'reference: 59')
  assert.match(
    (await policy('propose', raised, ...as('eve'))).stdout,
    /^\S+raised\.yaml:\d+:\d+ \/verdicts\/cutoff: warning: base and references .*\nProposed raised in sandbox; /,
  )
  assert.match(
    (await policy('propose', file, ...as('ann'))).stdout,
    /^Proposed lending-2 in sandbox; checksum [0-9a-f]{64}\./,
  )
  assert.match(
    (await policy('approve', 'lending-2', ...as('ann'))).stderr,
    /ann@example.com is policy_author\. Only owner, /,
  )
  assert.match(
    (await policy('activate', 'lending-2', ...because('ben'))).stderr,
    /lending-2 is not approved yet\. Another operator has to run policy approve first\./,
  )
  assert.equal((await json('policy', 'approve', 'lending-2', ...as('ben'))).state, 'approved')
  assert.equal(
    (await policy('activate', 'lending-2', ...as('ben'))).stdout,
    'lending-2 decides in sandbox from now on; sandbox-policy-v1 is retired.\n',
  )
  const states = async () =>
    (await json('policy', 'list')).map(({ version, state }: { version: string; state: string }) => [version, state])
  assert.deepEqual(await states(), [
    ['lending-2', 'active'],
    ['raised', 'proposed'],
    ['sandbox-policy-v1', 'retired'],
  ])
  assert.match((await policy('diff', 'sandbox-policy-v1', file)).stdout, /\/rules\/abuse_on_record\/when/)
  assert.match((await policy('diff', 'lending-2', file)).stdout, /there is no difference/)
  assert.match(
    (await policy('diff', 'lending-3', file)).stderr,
    /lending-3 is neither a file here nor a policy in sandbox\. Run policy list/,
  )

  const { steps, source } = await json('policy', 'show', 'lending-2')
  assert.match(source, /^# yaml-language-server/)
  assert.deepEqual(
    steps.map(({ step, by, reason }: Record<string, string>) => [step, by, reason]),
    [
      ['proposed', 'ann@example.com', 'ann has read it'],
      ['approved', 'ben@example.com', 'ben has read it'],
      ['activated', 'ben@example.com', 'ben has read it'],
    ],
  )
  assert.equal((await json('policy', 'activate', 'sandbox-policy-v1', ...because('the shell'))).replaced, 'lending-2')
  const back = (await json('policy', 'show', 'sandbox-policy-v1')).steps.at(-1)
  assert.deepEqual([back.step, back.actor_type], ['activated', 'os_user'])
  assert.equal(back.by, `${userInfo().username} (uid ${userInfo().uid})`, 'without --as, the user of the shell acts')
  assert.deepEqual(await json('policy', 'list', '--environment', 'production'), [])
})

test('the live gate takes an active policy and two operators to open, and one person to close', async () => {
  await addOperator('fay', 'policy_author')
  await addOperator('gil', 'policy_approver')
  for (const name of ['cay', 'dan']) await addOperator(name, 'admin')
  assert.equal((await call(testStorage.env, 'gate', 'status')).stdout, 'The live gate is closed: 0 of 2 approvals.\n')
  const early = await call(testStorage.env, 'gate', 'approve', ...as('dan'))
  assert.match(early.stderr, /Production has no active policy/)
  const production = ['--environment', 'production']
  const file = policyFile('live-1', 'when: history.abuse > 0', 'when: history.abuse > 1')
  await json('policy', 'propose', file, ...production, ...as('fay'))
  await json('policy', 'approve', 'live-1', ...production, ...as('gil'))
  await json('policy', 'activate', 'live-1', ...production, ...because('the shell'))
  assert.equal((await json('gate', 'approve', ...as('cay'))).open, false)
  const again = await call(testStorage.env, 'gate', 'approve', ...as('cay'))
  assert.deepEqual([again.status, /Another operator has to give the second approval/.test(again.stderr)], [1, true])
  assert.equal((await json('gate', 'approve', ...as('dan'))).open, true)
  assert.match(
    (await call(testStorage.env, 'gate', 'status')).stdout,
    /^The live gate is open\.\n {2}cay@example\.com \(invited by .+, [^,]+\), /,
  )
  assert.equal((await json('gate', 'close', ...because('the shell'))).open, false)
  assert.ok((await json('audit', 'verify')).every(({ intact }: { intact: boolean }) => intact))
})
