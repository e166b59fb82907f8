/** Who acts at the command line: operators by one-time code, everything else by the user of the operating system. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findCommand } from '../src/cli/commands.ts'
import { nameOsUser, osUser } from '../src/cli/os-user.ts'
import { readConfig } from '../src/config.ts'
import { openInstallation } from '../src/installation/installation.ts'
import { isGateOpen } from '../src/store/control/live-gate.ts'
import { activateDocument } from './activate-document.ts'
import { Authenticator } from './authenticator.ts'
import { newOrganizationId } from './new-organization.ts'
import { sandboxPolicy, sandboxPolicySource } from './sandbox-policy.ts'
import { createTestStorage } from './test-storage.ts'

const CALLER = 'alice (uid 1000)'
const WRONG = { code: 'code_wrong' }
let nowMs = Date.parse('2026-11-15T09:30:00.000Z')
const testStorage = await createTestStorage()
const installation = await openInstallation(readConfig(testStorage.env), { nowMs: () => nowMs })
await installation.storage.migrate()
const { control } = installation.storage
after(async () => {
  await installation.close()
  await testStorage.remove()
})

/** An organization, the commands that one shell runs on it, and two admins with their authenticator apps. */
async function newOrganization() {
  const id = await newOrganizationId(installation)
  const document = { ...sandboxPolicy().document, version: 'v0' }
  await activateDocument(installation, document, { organizationId: id, environment: 'production' })
  const run = (name: string, positionals: string[], options: Record<string, string> = {}) =>
    findCommand(name)!.run(installation, {
      positionals,
      options: { org: id, ...options },
      caller: CALLER,
      // biome-ignore lint/suspicious/noExplicitAny: every command returns another shape, and the tests read all of them.
    }) as Promise<any>
  const add = async (name: string, options: Record<string, string> = {}) => {
    const added = await run('operators add', [`${name}@example.com`], { name, role: 'admin', ...options })
    return { id: added.id as string, email: added.email as string, app: new Authenticator(added.code_secret) }
  }
  const [ada, grace] = [await add('ada'), await add('grace')]
  const approve = (as: string, code?: string) =>
    run('gate approve', [], { as, reason: 'r', ...(code !== undefined && { code }) })
  return { id, run, add, ada, grace, approve, isOpen: () => isGateOpen(control, id) }
}

/** The codes of the problems with which calls at the same moment were refused. */
async function refusalsOf(times: number, call: () => Promise<unknown>): Promise<string[]> {
  const results = await Promise.allSettled(Array.from({ length: times }, call))
  return results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
}

async function trailOf(organizationId: string, trailId: string) {
  const page = { organizationId, trailId, beforeSeq: undefined, limit: 100 }
  const entries = await installation.stores.production.auditLog.trail(page)
  return entries.reverse().map(({ type, actor_type, actor_id, data }) => [type, actor_type, actor_id, JSON.parse(data)])
}

test('one shell cannot open the live gate as two operators: each needs a code of their own, once', async () => {
  const { id, ada, grace, approve, isOpen } = await newOrganization()
  await assert.rejects(approve(ada.email), { code: 'code_missing' })
  await assert.rejects(approve(ada.email, '000000'), /not a valid code of ada@example.com/)
  const code = ada.app.next(nowMs)
  await assert.rejects(approve(grace.email, code), /not a valid code of grace@example.com/)
  assert.equal((await approve(ada.email, code)).open, false)
  await assert.rejects(approve(ada.email, code), WRONG)
  await assert.rejects(approve(grace.email, code), WRONG)
  assert.equal(await isOpen(), false)
  assert.equal((await approve(grace.email, grace.app.next(nowMs))).open, true)
  const invited_by = { type: 'os_user', id: CALLER }
  const gate = (await trailOf(id, id)).filter(([type]) => type === 'live_gate.approved')
  assert.deepEqual(gate, [
    ['live_gate.approved', 'operator', ada.id, { reason: 'r', via: CALLER, invited_by }],
    ['live_gate.approved', 'operator', grace.id, { reason: 'r', via: CALLER, invited_by }],
  ])
})

test('a code that is used twice at the same moment is accepted once', async () => {
  const { run, ada } = await newOrganization()
  const code = ada.app.next(nowMs)
  const codes = await refusalsOf(4, () => run('gate close', [], { as: ada.email, code, reason: 'r' }))
  assert.deepEqual(codes.sort(), ['code_wrong', 'code_wrong', 'code_wrong', 'gate_closed'])
})

test('five wrong codes lock an operator for 15 minutes, also at the same moment, and the log says so', async () => {
  const { id, ada, grace, approve } = await newOrganization()
  const guesses = await refusalsOf(20, () => approve(ada.email, 'abcdef'))
  assert.equal(guesses.filter((code) => code === 'code_wrong').length, 5)
  assert.equal(guesses.filter((code) => code === 'codes_locked').length, 15)
  await assert.rejects(approve(ada.email, ada.app.next(nowMs)), /Too many codes of ada@example.com were wrong/)
  assert.equal((await approve(grace.email, grace.app.next(nowMs))).open, false, 'other operators are not locked')
  const locked = (await trailOf(id, ada.id)).filter(([type]) => type === 'operator.code_locked')
  assert.deepEqual(
    locked.map(([, type, by, data]) => [type, by, data.failures]),
    [['os_user', CALLER, 5]],
  )
  nowMs += 15 * 60_000 + 1
  await assert.rejects(approve(ada.email, 'abcdef'), WRONG)
  await assert.rejects(approve(ada.email, ada.app.next(nowMs)), { code: 'codes_locked' })
  nowMs += 15 * 60_000 + 1
  assert.equal((await approve(ada.email, ada.app.next(nowMs))).open, true)
  await assert.rejects(approve(ada.email, 'abcdef'), WRONG)
  await assert.rejects(approve(ada.email, ada.app.next(nowMs)), { code: 'gate_open' })
})

test('an author who was removed and added again cannot approve their own policy', async () => {
  const { run, ada, grace, add } = await newOrganization()
  const production = { environment: 'production', reason: 'r' }
  const as = ({ email, app }: typeof ada) => {
    nowMs += 60_000
    return { as: email, code: app.next(nowMs) }
  }
  const source = sandboxPolicySource().replace(/^version: .*$/m, 'version: v9')
  assert.equal((await run('policy propose', ['v9.yaml'], { ...production, ...as(ada), source })).state, 'proposed')
  await run('operators remove', [ada.email], { reason: 'r', ...as(grace) })
  const adaAgain = await add('ada', as(grace))
  assert.notEqual(adaAgain.id, ada.id)
  await assert.rejects(
    run('policy approve', ['v9'], { ...production, ...as(adaAgain) }),
    /nother operator has to approve it/,
  )
  assert.equal((await run('policy approve', ['v9'], { ...production, ...as(grace) })).state, 'approved')
})

test('proposing and approving a policy need codes of two operators; one person may reject, activate and close', async () => {
  const { id, run, ada, grace } = await newOrganization()
  const source = (version: string) => sandboxPolicySource().replace(/^version: .*$/m, `version: ${version}`)
  const production = { environment: 'production', reason: 'r' }
  const as = ({ email, app }: typeof ada) => ({ ...production, as: email, code: app.next(nowMs) })
  const propose = (version: string, options: object) =>
    run('policy propose', [`${version}.yaml`], { ...options, source: source(version) })
  await assert.rejects(propose('v1', production), { code: 'operator_missing' })
  await assert.rejects(propose('v1', { ...production, as: ada.email }), { code: 'code_missing' })
  assert.equal((await propose('v1', as(ada))).state, 'proposed')
  await assert.rejects(run('policy approve', ['v1'], production), { code: 'operator_missing' })
  await assert.rejects(run('policy approve', ['v1'], as(ada)), /nother operator has to approve it/)
  assert.equal((await run('policy approve', ['v1'], as(grace))).state, 'approved')
  const active = await run('policy activate', ['v1'], production)
  assert.equal(active.state, 'active')
  nowMs += 120_000
  assert.equal((await propose('v2', as(ada))).state, 'proposed')
  assert.equal((await run('policy reject', ['v2'], production)).state, 'rejected')
  const entries = await trailOf(id, active.id)
  assert.deepEqual(
    entries.map(([type, actorType, actor, { via }]) => [type, actorType, actor, via]),
    [
      ['policy.proposed', 'operator', ada.id, CALLER],
      ['policy.approved', 'operator', grace.id, CALLER],
      ['policy.activated', 'os_user', CALLER, undefined],
    ],
  )
})

test('once there are two owners or admins, one of them vouches for every new operator and every new secret', async () => {
  const { id, run, add, ada, grace, approve, isOpen } = await newOrganization()
  const eve = { name: 'eve', role: 'admin' }
  await assert.rejects(run('operators add', ['eve@example.com'], eve), { code: 'voucher_missing' })
  await assert.rejects(run('operators reset-code', [grace.email]), { code: 'voucher_missing' })
  const clerk = await add('clerk', { role: 'viewer', as: ada.email, code: ada.app.next(nowMs) })
  const byClerk = { as: clerk.email, code: clerk.app.next(nowMs) }
  await assert.rejects(run('operators add', ['eve@example.com'], { ...eve, ...byClerk }), {
    code: 'role_lacks_permission',
  })

  nowMs += 60_000
  const reset = await run('operators reset-code', [grace.email], { as: ada.email, code: ada.app.next(nowMs) })
  await assert.rejects(approve(grace.email, grace.app.next(nowMs)), WRONG)
  await approve(grace.email, new Authenticator(reset.code_secret).next(nowMs))
  await approve(ada.email, ada.app.next(nowMs))
  assert.equal(await isOpen(), true)
  const entries = await trailOf(id, grace.id)
  assert.deepEqual(entries, [
    ['operator.added', 'os_user', CALLER, { role: 'admin' }],
    ['operator.code_reset', 'operator', ada.id, { via: CALLER }],
  ])
})

test('the secret of the codes is encrypted at rest and shown only when it is issued', async () => {
  const { run } = await newOrganization()
  const listed = await run('operators list', [])
  assert.ok(!/secret|otpauth/.test(JSON.stringify(listed)))
  const rows = await control.query<{ secret: string }>('SELECT secret FROM operator_codes')
  assert.ok(rows.length > 0)
  for (const { secret } of rows) assert.ok(!/^[A-Z2-7]{32}$/.test(secret), secret)
})

test('the user of the operating system is named with its number, and SUDO_USER only as a claim', () => {
  assert.match(nameOsUser(undefined), /^\S+ \(uid \d+\)$/)
  assert.match(nameOsUser('bob'), /^\S+ \(uid \d+; SUDO_USER bob\)$/)
  assert.match(nameOsUser('bob); root (uid 0'), /^\S+ \(uid \d+\)$/, 'not a name')
  assert.equal(osUser({ caller: `x\u001b[31m${'y'.repeat(200)}` }).id.length, 100)
  assert.ok(!osUser({ caller: 'x\u001b[31m' }).id.includes('\u001b'))
})
