/** Invitations that are made or accepted at the same moment: at most one of them wins. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeOperator } from '../src/admin/change-operators.ts'
import { operatorEntry } from '../src/admin/entries.ts'
import { inviteOperator } from '../src/admin/invitations.ts'
import { hashToken } from '../src/security/secret-token.ts'
import { connectIdentity } from '../src/sign-in/single-sign-on.ts'
import { whileIdentityHolds } from '../src/store/control/account-identities.ts'
import { findAccountByEmail } from '../src/store/control/accounts.ts'
import { insertInvitation } from '../src/store/control/invitations.ts'
import {
  findOperatorByEmail,
  findOperatorById,
  operatorsOfAccount,
  updateOperator,
} from '../src/store/control/operators.ts'
import { byOsUser, byService } from './acts.ts'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { addAccount } from './people.ts'
import { startTestService } from './test-service.ts'
import { onPostgres } from './test-storage.ts'
import { until } from './webhook-receiver.ts'

const api = await startTestService()
const { installation } = api.service
const { masterKey } = installation
const { control } = installation.storage
const ACTOR = { type: 'system', id: 'test' } as const
const TRIALS = 5
const tokenOf = (link: string) => /#([\w-]{43})$/.exec(link)![1]!

const inviteTo = (organizationId: string, email: string) =>
  inviteOperator(installation, byService(organizationId), { email, name: 'Grace', role: 'reviewer' })

async function linkTo(organizationId: string, email: string): Promise<string> {
  return tokenOf((await inviteTo(organizationId, email)).link)
}

const accept = (token: string, password = PASSWORD) =>
  new ConsoleClient(api).call('open/invitation.accept', { token, name: 'Grace', password })

async function isOpen(token: string): Promise<boolean> {
  return (await new ConsoleClient(api).call('open/invitation.show', { token })).status === 200
}

/** The loser finds that the link was used, or that the winner's account is in use: depending on which it sees first. */
function assertOneWon(answers: { status: number }[]): void {
  const [won, lost] = answers.map(({ status }) => status).sort()
  assert.ok(won === 200 && (lost === 404 || lost === 409), `${won} and ${lost}`)
}

async function countOf(sql: string, params: unknown[]): Promise<number> {
  const [row] = await control.query<{ count: number }>(`SELECT count(*) AS count FROM ${sql}`, params)
  return Number(row!.count)
}

test('a person who is invited twice at the same moment is one operator, with one link that works', async () => {
  const acme = await api.newOrganization()
  for (let trial = 0; trial < TRIALS; trial++) {
    const email = `twice-${trial}@example.com`
    const inviteAtOnce = (times: number) =>
      Promise.allSettled(Array.from({ length: times }, () => inviteTo(acme.id, email)))
    const first = await inviteAtOnce(3)
    assert.ok(first.some(({ status }) => status === 'fulfilled'))
    assert.equal(await countOf('operators WHERE org_id = $1 AND email = $2', [acme.id, email]), 1)
    const sent = [...first, ...(await inviteAtOnce(5))]
    const tokens = sent.flatMap((one) => (one.status === 'fulfilled' ? [tokenOf(one.value.link)] : []))
    const open: string[] = []
    for (const token of tokens) if (await isOpen(token)) open.push(token)
    assert.equal(open.length, 1)
    for (const one of sent) if (one.status === 'rejected') assert.equal(one.reason.code, 'changed_meanwhile')
    assert.equal((await accept(open[0]!)).status, 200)
  }
})

test('a link that two accounts and a new person accept at the same moment binds one of them', async () => {
  const acme = await api.newOrganization()
  for (let trial = 0; trial < TRIALS; trial++) {
    const email = `linked-${trial}@example.com`
    const token = await linkTo(acme.id, email)
    const people = await Promise.all([1, 2].map((n) => person(`person-${trial}-${n}@example.com`)))
    const joined = await Promise.all([
      ...people.map((one) => one.call('account/invitation.join', { token })),
      accept(token),
    ])
    assert.deepEqual(joined.map(({ status }) => status).sort(), [200, 404, 404])
    const bound = await countOf('operators WHERE org_id = $1 AND email = $2 AND account_id IS NOT NULL', [
      acme.id,
      email,
    ])
    assert.equal(bound, 1)
    const isNew = joined[2]!.status === 200
    assert.equal(await countOf('accounts WHERE email = $1', [email]), isNew ? 1 : 0, 'a loser leaves no account behind')
  }
})

const needsServer = { skip: !onPostgres && 'the embedded database runs one statement at a time' }

// Other test files use the same server.
const WAITING = `SELECT 1 FROM pg_locks JOIN pg_stat_activity AS activity USING (pid)
  WHERE NOT granted AND activity.datname = current_database()`

type Act = Parameters<typeof control.recorded<boolean>>[0]

/** Carries out an act in a transaction, and another one while that is not committed, which may have to wait for it. */
async function whileUncommitted<Second>(first: Act, second: () => Promise<Second>): Promise<[boolean, Second]> {
  let following: Promise<Second>
  const done = await control.recorded(async (transaction, record) => {
    const result = await first(transaction, record)
    let hasEnded = false
    following = second().finally(() => {
      hasEnded = true
    })
    await until('the second statement ends or waits', async () => {
      return hasEnded || (await control.query(WAITING)).length > 0
    })
    return result
  })
  return [done, await following!]
}

test('of two links that are made at the same moment, one can be accepted', needsServer, async () => {
  const acme = await api.newOrganization()
  const email = 'links@example.com'
  await linkTo(acme.id, email)
  const operator = (await findOperatorByEmail(control, acme.id, email))!
  const now = new Date()
  const token = 'the token of the first link'
  const invitation = {
    org_id: acme.id,
    id: 'inv_first',
    operator_id: operator.id,
    created_at: now.toISOString(),
    token_hash: hashToken(masterKey, 'invitations', token),
    expires_at: new Date(now.getTime() + 3_600_000).toISOString(),
  }
  const { id: invitation_id, expires_at } = invitation
  const entry = operatorEntry(
    installation,
    { organizationId: acme.id, operatorId: operator.id, actor: ACTOR },
    { type: 'operator.invited', data: { role: operator.role, invitation_id, expires_at } },
  )
  const [isMade] = await whileUncommitted(
    async (uncommitted, record) => {
      await updateOperator(uncommitted, control.seal('operators', operator, entry), { was: operator.entry_id })
      await insertInvitation(uncommitted, control.seal('invitations', invitation, entry))
      record(entry)
      return true
    },
    () => assert.rejects(inviteTo(acme.id, email), { code: 'changed_meanwhile' }),
  )
  assert.equal(isMade, true)
  assert.equal(await isOpen(token), true)
})

test('an operator whom single sign-on binds while they accept a link gets one account', needsServer, async () => {
  const acme = await api.newOrganization()
  const email = 'both@example.com'
  const token = await linkTo(acme.id, email)
  const operator = (await findOperatorByEmail(control, acme.id, email))!
  const entry = operatorEntry(
    installation,
    { organizationId: acme.id, operatorId: operator.id, actor: ACTOR },
    { type: 'operator.joined', data: { role: operator.role, account_id: 'acc_of_provider' } },
  )
  const bound = control.seal('operators', { ...operator, account_id: 'acc_of_provider' }, entry)
  const [isBound, accepted] = await whileUncommitted(
    async (uncommitted, record) => {
      record(entry)
      return updateOperator(uncommitted, bound, { was: operator.entry_id })
    },
    () => accept(token),
  )
  assert.deepEqual([isBound, accepted.status], [true, 404])
  assert.equal((await findOperatorByEmail(control, acme.id, email))!.account_id, 'acc_of_provider')
  assert.equal(await countOf('accounts WHERE email = $1', [email]), 0, 'the loser leaves no account behind')
})

test('single sign-on gives no role to an account that the reader of a link took up meanwhile', async () => {
  const globex = await api.newOrganization()
  const email = 'taken-up@example.com'
  const now = new Date().toISOString()
  const identity = { issuer: 'https://id.example.com', subject: 'taken-up' }
  const account = await addAccount(installation, {
    id: 'acc_taken_up',
    email,
    name: 'Grace',
    password_hash: null,
    created_at: now,
  })
  const added = { ...identity, name: 'Grace', email, groups: [] }
  assert.equal(await connectIdentity(installation, { accountId: account.id, identity: added }), undefined)
  const holds = (act = async () => true) =>
    control.transaction((transaction) => whileIdentityHolds(transaction, { ...identity, accountId: account.id }, act))
  assert.equal(await holds(), true)
  assert.equal((await accept(await linkTo(globex.id, email))).status, 200)
  let isAsked = false
  const isAdded = await holds(async () => {
    isAsked = true
    return true
  })
  assert.deepEqual([isAdded, isAsked], [false, false])
  assert.deepEqual(
    (await operatorsOfAccount(control, account.id)).map(({ org_id }) => org_id),
    [globex.id],
  )
})

async function person(email: string) {
  const { id: organizationId } = await api.newOrganization()
  const client = await signedInOperator(api, { organizationId, email, role: 'viewer' })
  return Object.assign(client, { organizationId })
}

test('links of two organizations for one address make one account; the other person is asked to sign in', async () => {
  for (let trial = 0; trial < TRIALS; trial++) {
    const email = `shared-${trial}@example.com`
    const [acme, globex] = [await api.newOrganization(), await api.newOrganization()]
    const tokens = [await linkTo(acme.id, email), await linkTo(globex.id, email)]
    const answers = await Promise.all(tokens.map((token) => accept(token)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
    const loser = answers.findIndex(({ status }) => status === 409)
    assert.match(answers[loser]!.body.error.message, /There is an account with this e-mail/)
    assert.equal(await isOpen(tokens[loser]!), true, 'its link still works, for the person who signs in')
    const account = await findAccountByEmail(control, email)
    assert.equal((await operatorsOfAccount(control, account!.id)).length, 1)
  }
})

test('an account that two links would take up at the same moment goes to one of their readers', async () => {
  for (let trial = 0; trial < TRIALS; trial++) {
    const email = `again-${trial}@example.com`
    const { accountId, organizationId, operatorId } = await person(email)
    const operator = (await findOperatorById(control, organizationId, operatorId))!
    await removeOperator(installation, byOsUser(organizationId, 'Left.'), operator)
    const [acme, globex] = [await api.newOrganization(), await api.newOrganization()]
    const tokens = [await linkTo(acme.id, email), await linkTo(globex.id, email)]
    const passwords = ['seven slow ferries north', 'eight slow ferries south']
    const answers = await Promise.all(tokens.map((token, index) => accept(token, passwords[index])))
    assertOneWon(answers)
    const operators = await operatorsOfAccount(control, accountId)
    const winner = answers.findIndex(({ status }) => status === 200)
    assert.deepEqual(
      operators.map(({ org_id }) => org_id),
      [[acme, globex][winner]!.id],
    )
    assert.equal((await new ConsoleClient(api).signIn(email, passwords[winner])).status, 200)
  }
})

test('one account that joins by two links of an organization at the same moment is one of its operators', async () => {
  const acme = await api.newOrganization()
  for (let trial = 0; trial < TRIALS; trial++) {
    const kay = await person(`kay-${trial}@example.com`)
    const tokens = [await linkTo(acme.id, `k1-${trial}@example.com`), await linkTo(acme.id, `k2-${trial}@example.com`)]
    const joined = await Promise.all(tokens.map((token) => kay.call('account/invitation.join', { token })))
    assertOneWon(joined)
  }
})
