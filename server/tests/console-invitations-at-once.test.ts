/** Invitations that are made or accepted at the same moment: at most one of them wins. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inviteOperator } from '../src/admin/invitations.ts'
import { hashToken } from '../src/security/bearer-token.ts'
import type { Database } from '../src/store/database/database.ts'
import { insertAccountWithIdentity, whileIdentityHolds } from '../src/store/queries/account-identities.ts'
import { findAccountByEmail } from '../src/store/queries/accounts.ts'
import { acceptWithNewAccount, acceptWithRenewedAccount, insertInvitation } from '../src/store/queries/invitations.ts'
import {
  bindOperator,
  findOperatorByEmail,
  insertOperator,
  operatorsOfAccount,
} from '../src/store/queries/operators.ts'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
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
  inviteOperator(installation, { organizationId, actor: ACTOR }, { email, name: 'Grace', role: 'reviewer' })

async function linkTo(organizationId: string, email: string): Promise<string> {
  const sent = await inviteTo(organizationId, email)
  assert.ok('link' in sent, JSON.stringify(sent))
  return tokenOf(sent.link)
}

const accept = (token: string, password = PASSWORD) =>
  new ConsoleClient(api).call('open/invitation.accept', { token, name: 'Grace', password })

async function isOpen(token: string): Promise<boolean> {
  return (await new ConsoleClient(api).call('open/invitation.show', { token })).status === 200
}

async function countOf(sql: string, params: unknown[]): Promise<number> {
  const [row] = await control.query<{ count: number }>(`SELECT count(*) AS count FROM ${sql}`, params)
  return Number(row!.count)
}

test('a person who is invited twice at the same moment is one operator, with one link that works', async () => {
  const acme = await api.newOrganization()
  for (let trial = 0; trial < TRIALS; trial++) {
    const email = `twice-${trial}@example.com`
    const first = await Promise.all([inviteTo(acme.id, email), inviteTo(acme.id, email), inviteTo(acme.id, email)])
    assert.ok(first.some((sent) => 'link' in sent))
    assert.equal(await countOf('operators WHERE org_id = $1 AND email = $2', [acme.id, email]), 1)
    const renewed = await Promise.all(Array.from({ length: 5 }, () => inviteTo(acme.id, email)))
    const tokens = [...first, ...renewed].flatMap((sent) => ('link' in sent ? [tokenOf(sent.link)] : []))
    const open: string[] = []
    for (const token of tokens) if (await isOpen(token)) open.push(token)
    assert.equal(open.length, 1)
    for (const sent of [...first, ...renewed])
      if ('problem' in sent) assert.match(sent.problem, /already|at the same moment/)
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
    assert.deepEqual(joined.map(({ status }) => status).sort(), [200, 400, 400])
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

/** Runs a statement in a transaction, and another one while that is not committed, which may have to wait for it. */
async function whileUncommitted<First, Second>(
  first: (uncommitted: Database) => Promise<First>,
  second: () => Promise<Second>,
): Promise<[First, Second]> {
  let following: Promise<Second>
  const done = await control.transaction(async (transaction) => {
    const result = await first(transaction as unknown as Database)
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
  await linkTo(acme.id, 'links@example.com')
  const operator = (await findOperatorByEmail(control, acme.id, 'links@example.com'))!
  const now = new Date()
  const invitation = (id: string) => ({
    ...{
      org_id: acme.id,
      id,
      operator_id: operator.id,
      token_hash: hashToken(masterKey, 'invitations', id),
      created_at: now.toISOString(),
    },
    expires_at: new Date(now.getTime() + 3_600_000).toISOString(),
  })
  const made = await whileUncommitted(
    (uncommitted) => insertInvitation(uncommitted, invitation('inv_first')),
    () => insertInvitation(control, invitation('inv_second')),
  )
  assert.deepEqual(made, [true, false])
  assert.deepEqual([await isOpen('inv_first'), await isOpen('inv_second')], [true, false])
})

test('an operator whom single sign-on binds while they accept a link gets one account', needsServer, async () => {
  const acme = await api.newOrganization()
  const email = 'both@example.com'
  const now = new Date().toISOString()
  const tokenHash = hashToken(masterKey, 'invitations', await linkTo(acme.id, email))
  const { id: operatorId } = (await findOperatorByEmail(control, acme.id, email))!
  const account = { id: 'acc_of_link', email, name: 'Grace', password_hash: 'x', created_at: now }
  const ended = await whileUncommitted(
    (uncommitted) => bindOperator(uncommitted, { organizationId: acme.id, operatorId, accountId: 'acc_of_provider' }),
    () => acceptWithNewAccount(control, { tokenHash, account, now }),
  )
  assert.deepEqual(ended, [true, 'no_link'])
  assert.equal((await findOperatorByEmail(control, acme.id, email))!.account_id, 'acc_of_provider')
  assert.equal(await countOf('accounts WHERE email = $1', [email]), 0, 'the loser leaves no account behind')
})

test('single sign-on gives no role to an account that the reader of a link took up meanwhile', async () => {
  const [acme, globex] = [await api.newOrganization(), await api.newOrganization()]
  const email = 'taken-up@example.com'
  const now = new Date().toISOString()
  const identity = { issuer: 'https://id.example.com', subject: 'taken-up' }
  const account = { id: 'acc_taken_up', email, name: 'Grace', password_hash: null, created_at: now }
  assert.ok(await insertAccountWithIdentity(control, { account, ...identity }))
  const holds = () => whileIdentityHolds(control, { ...identity, accountId: account.id }, async () => true)
  assert.equal(await holds(), true)
  const tokenHash = hashToken(masterKey, 'invitations', await linkTo(globex.id, email))
  assert.ok(await acceptWithRenewedAccount(control, { tokenHash, account: { ...account, password_hash: 'x' }, now }))
  const operator = { org_id: acme.id, id: 'opr_by_groups', email, name: 'Grace', role: 'owner', account_id: account.id }
  const isAdded = await whileIdentityHolds(control, { ...identity, accountId: account.id }, (transaction) =>
    insertOperator(transaction, { ...operator, role: 'owner', created_at: now, disabled_at: null }),
  )
  assert.equal(isAdded, false)
  assert.deepEqual(
    (await operatorsOfAccount(control, account.id)).map(({ org_id }) => org_id),
    [globex.id],
  )
})

async function person(email: string) {
  const { id: organizationId } = await api.newOrganization()
  return signedInOperator(api, { organizationId, email, role: 'viewer' })
}

test('links of two organizations for one address make one account; the other person is asked to sign in', async () => {
  for (let trial = 0; trial < TRIALS; trial++) {
    const email = `shared-${trial}@example.com`
    const [acme, globex] = [await api.newOrganization(), await api.newOrganization()]
    const tokens = [await linkTo(acme.id, email), await linkTo(globex.id, email)]
    const answers = await Promise.all(tokens.map((token) => accept(token)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400])
    const loser = answers.findIndex(({ status }) => status === 400)
    assert.match(answers[loser]!.body.error.message, /There is an account with this e-mail/)
    assert.equal(await isOpen(tokens[loser]!), true, 'its link still works, for the person who signs in')
    const account = await findAccountByEmail(control, email)
    assert.equal((await operatorsOfAccount(control, account!.id)).length, 1)
  }
})

test('an account that two links would take up at the same moment goes to one of their readers', async () => {
  for (let trial = 0; trial < TRIALS; trial++) {
    const email = `again-${trial}@example.com`
    const { accountId } = await person(email)
    await control.query('UPDATE operators SET disabled_at = now() WHERE account_id = $1', [accountId])
    const [acme, globex] = [await api.newOrganization(), await api.newOrganization()]
    const tokens = [await linkTo(acme.id, email), await linkTo(globex.id, email)]
    const passwords = ['seven slow ferries north', 'eight slow ferries south']
    const answers = await Promise.all(tokens.map((token, index) => accept(token, passwords[index])))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400])
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
    assert.deepEqual(joined.map(({ status }) => status).sort(), [200, 400])
  }
})
