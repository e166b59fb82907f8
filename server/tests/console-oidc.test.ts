/** Single sign-on against a real OpenID Connect provider. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, test } from 'node:test'
import { inviteOperator } from '../src/admin/invitations.ts'
import { findOperatorByEmail } from '../src/store/control/operators.ts'
import { byService } from './acts.ts'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { whileHidden } from './hidden-rows.ts'
import { type Person, startIdentityProvider } from './identity-provider.ts'
import { rewriteRow } from './people.ts'
import { freePorts } from './service-process.ts'
import { startTestService } from './test-service.ts'

const port = (await freePorts()).console
const base = `http://127.0.0.1:${port}`
const callback = `${base}/api/oidc/callback`
const provider = await startIdentityProvider(() => [
  { client_id: 'verdigraph', client_secret: 'a secret of a test', redirect_uris: [callback] },
  { client_id: 'another', client_secret: 'another secret', redirect_uris: [callback] },
])
after(() => provider.close())
const api = await startTestService({
  env: {
    CONSOLE_PORT: String(port),
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'verdigraph',
    OIDC_CLIENT_SECRET: 'a secret of a test',
    OIDC_ROLES: 'staff=viewer,risk-admins=admin,board=owner',
    OIDC_ORGANIZATION: 'Single sign-on',
  },
})
const { installation } = api.service
const { id: organizationId } = await api.newOrganization('Single sign-on')

function addPerson(sub: string, changes: Partial<Person> = {}): Person {
  const person = {
    sub,
    email: `${sub}@example.com`,
    email_verified: true,
    name: `Person ${sub}`,
    groups: ['staff'],
    ...changes,
  }
  provider.people.set(sub, person)
  return person
}

/** A browser that follows redirects between the console and the provider, with the cookies of both. */
class Browser {
  readonly cookies = new Map<string, string>()

  async get(url: string): Promise<{ status: number; location: string | null; text: string; cookies: string[] }> {
    const response = await fetch(url, { redirect: 'manual', headers: { Cookie: this.#cookieHeader() } })
    const cookies = response.headers.getSetCookie()
    for (const cookie of cookies) {
      const [pair = ''] = cookie.split(';', 1)
      const name = pair.slice(0, pair.indexOf('='))
      if (/Max-Age=0|01 Jan 1970/i.test(cookie)) this.cookies.delete(name)
      else this.cookies.set(name, pair.slice(name.length + 1))
    }
    const location = response.headers.get('location')
    return {
      status: response.status,
      location: location === null ? null : new URL(location, url).href,
      text: await response.text(),
      cookies,
    }
  }

  /** Follows redirects until a page comes, or until the next address would be the callback of the console. */
  async follow(url: string): Promise<{ url: string; text: string }> {
    let next = url
    for (;;) {
      const { location, text } = await this.get(next)
      if (location === null) return { url: next, text }
      if (location.startsWith(callback)) return { url: location, text: '' }
      next = location
    }
  }

  /** Signs in at the provider as a person; returns the address of the callback, which is not called. */
  async authorize(person: Person, startUrl = `${base}/api/oidc/start`): Promise<string> {
    const choice = await this.follow(startUrl)
    if (choice.url.startsWith(callback)) return choice.url
    const link = new RegExp(`href="([^"]+as=${person.sub})"`).exec(choice.text)
    assert.ok(link, choice.text)
    return (await this.follow(new URL(link[1]!, provider.issuer).href)).url
  }

  async signIn(person: Person) {
    return this.get(await this.authorize(person))
  }

  /** Calls an operation as the page does. */
  console(path: string, input: object = {}) {
    const client = new ConsoleClient(api)
    client.cookie = `verdigraph=${this.cookies.get('verdigraph')}`
    return client.call(path, input)
  }

  #cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }
}

async function trailOf(operatorId: string) {
  const page = { organizationId, trailId: operatorId, beforeSeq: undefined, limit: 100 }
  const entries = await installation.stores.production.auditLog.trail(page)
  return entries.reverse().map(({ type, actor_type, data }) => {
    const { session_id: _session, ...rest } = JSON.parse(data)
    return [type, actor_type, rest]
  })
}

/** Why the service refused callbacks, by its log. */
function refusals(): string[] {
  return api.logs
    .map((line) => JSON.parse(line) as { msg: string; err?: { message: string } })
    .filter(({ msg }) => msg === 'sign-in through the provider refused')
    .map(({ err }) => JSON.stringify(err).replaceAll('\\"', '"'))
}

const operatorOf = (email: string) => findOperatorByEmail(installation.storage.control, organizationId, email)

test('a person of a mapped group signs in, with the highest role of their groups, and the log says how', async () => {
  const browser = new Browser()
  const ada = addPerson('ada', { groups: ['staff', 'risk-admins'] })
  const answer = await browser.signIn(ada)
  assert.equal(answer.status, 200)
  assert.match(answer.text, /<meta http-equiv="refresh" content="0; url=\/">/)
  const session = answer.cookies.find((cookie) => cookie.startsWith('verdigraph='))
  assert.match(session!, /HttpOnly/)
  assert.match(session!, /SameSite=Strict/)
  const me = (await browser.console('account/account.show')).body
  assert.deepEqual([me.account.email, me.organizations[0].role], ['ada@example.com', 'admin'])
  const operator = (await operatorOf('ada@example.com'))!
  assert.deepEqual(await trailOf(operator.id), [
    ['operator.joined', 'system', { role: 'admin', account_id: operator.account_id }],
    ['operator.signed_in', 'operator', { method: 'oidc' }],
  ])

  ada.groups = ['staff']
  await new Browser().signIn(ada)
  assert.equal((await operatorOf('ada@example.com'))!.role, 'viewer', 'the role follows the groups at every sign-in')
  assert.deepEqual((await trailOf(operator.id)).slice(2), [
    ['operator.role_changed', 'system', { from: 'admin', to: 'viewer', reason: 'the groups at the identity provider' }],
    ['operator.signed_in', 'operator', { method: 'oidc' }],
  ])
  assert.equal((await browser.console(`${organizationId}/production/team.end-sessions`, {})).status, 403)
})

test('a callback with another state, nonce, code or cookie is refused, and a code works once', async () => {
  const ben = addPerson('ben')
  const changed = new Browser()
  const url = new URL(await changed.authorize(ben))
  url.searchParams.set('state', 'x'.repeat(43))
  assert.equal((await changed.get(url.href)).status, 401, 'wrong state')
  assert.match(refusals().at(-1)!, /"state"/)

  const noCookie = new Browser()
  const foreign = await noCookie.authorize(ben)
  assert.equal((await new Browser().get(foreign)).status, 400, 'a browser that did not begin')

  const altered = new Browser()
  const toAltered = await altered.authorize(ben)
  const cookie = altered.cookies.get('verdigraph-oidc')!
  altered.cookies.set(
    'verdigraph-oidc',
    cookie.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
  )
  assert.equal((await altered.get(toAltered)).status, 400, 'an altered cookie')

  const nonce = new Browser()
  const begun = await nonce.get(`${base}/api/oidc/start`)
  const authorization = new URL(begun.location!)
  authorization.searchParams.set('nonce', 'another-nonce')
  assert.equal((await nonce.get(await nonce.authorize(ben, authorization.href))).status, 401, 'wrong nonce')
  assert.match(refusals().at(-1)!, /"nonce"/)

  const replaying = new Browser()
  const once = await replaying.authorize(ben)
  const kept = replaying.cookies.get('verdigraph-oidc')!
  assert.equal((await replaying.get(once)).status, 200)
  assert.equal(replaying.cookies.has('verdigraph-oidc'), false, 'the cookie serves one callback')
  replaying.cookies.set('verdigraph-oidc', kept)
  const again = await replaying.get(once)
  assert.deepEqual([again.status, again.cookies.some((set) => set.startsWith('verdigraph='))], [400, false], 'replayed')
  assert.match(again.text, /used already/)
})

test('an ID token that the provider issued to another client is refused', async () => {
  const eve = addPerson('eve')
  const browser = new Browser()
  const begun = await browser.get(`${base}/api/oidc/start`)
  const pending = new URL(begun.location!).searchParams
  const stolen = await tokenOfAnotherClient(eve, pending.get('nonce')!)
  const toCallback = await browser.authorize(eve, begun.location!)
  provider.rewriteTokens = (answer) => ({ ...answer, id_token: stolen })
  try {
    assert.equal((await browser.get(toCallback)).status, 401)
  } finally {
    provider.rewriteTokens = undefined
  }
  assert.equal(browser.cookies.has('verdigraph'), false)
  assert.match(refusals().at(-1)!, /unexpected JWT "aud"/)
})

/** Lets another client of the provider sign a person in, and returns the ID token it got. */
async function tokenOfAnotherClient(person: Person, nonce: string): Promise<string> {
  const verifier = 'v'.repeat(43)
  const url = new URL(`${provider.issuer}/auth`)
  url.search = new URLSearchParams({
    client_id: 'another',
    redirect_uri: callback,
    response_type: 'code',
    scope: 'openid',
    state: 's',
    nonce,
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256',
  }).toString()
  const code = new URL(await new Browser().authorize(person, url.href)).searchParams.get('code')!
  const response = await fetch(`${provider.issuer}/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from('another:another%20secret').toString('base64')}` },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: callback,
      code_verifier: verifier,
    }),
  })
  return ((await response.json()) as { id_token: string }).id_token
}

test('a person without a verified e-mail, or in no mapped group, is refused with the reason', async () => {
  const unverified = await new Browser().signIn(addPerson('fay', { email_verified: false }))
  assert.equal(unverified.status, 403)
  assert.match(unverified.text, /did not confirm your e-mail address/)
  const stranger = await new Browser().signIn(addPerson('gil', { groups: ['guests'] }))
  assert.equal(stranger.status, 403)
  assert.match(stranger.text, /none of the groups that may use this console/)
  assert.equal(await operatorOf('gil@example.com'), undefined)
})

test('an account with the same e-mail is not taken over: its own person connects it', async () => {
  const email = 'hal@example.com'
  const owner = await signedInOperator(api, { organizationId, email, role: 'developer' })
  const hal = addPerson('hal', { groups: ['risk-admins'] })
  const refused = await new Browser().signIn(hal)
  assert.equal(refused.status, 403)
  assert.match(refused.text, /There is an account with your e-mail address/)

  const browser = new Browser()
  assert.equal((await owner.call('account/single-sign-on.show')).body.is_connected, false)
  browser.cookies.set('verdigraph', owner.cookie!.slice('verdigraph='.length))
  assert.equal((await browser.get(`${base}/api/oidc/start?connect`)).status, 403, 'without the password')
  assert.equal((await owner.call('account/single-sign-on.connect')).status, 400)
  const begin = async () =>
    `${base}${(await owner.call('account/single-sign-on.connect', { password: PASSWORD })).body.path}`
  assert.equal((await new Browser().get(await begin())).status, 403, 'in another browser')

  const startUrl = await begin()
  const connected = await browser.get(await browser.authorize(hal, startUrl))
  assert.equal((await browser.get(startUrl)).status, 403, 'a second time')
  assert.match(connected.text, /url=\/account/)
  assert.equal((await owner.call('account/single-sign-on.show')).body.is_connected, true)
  const later = new Browser()
  assert.equal((await later.signIn(hal)).status, 200)
  assert.equal((await later.console('account/account.show')).body.account.id, owner.accountId)
  assert.equal((await operatorOf(email))!.role, 'admin')
  assert.equal((await owner.call('account/single-sign-on.disconnect')).status, 200)
  assert.equal((await new Browser().signIn(hal)).status, 403)
})

test('an account is not connected once the session in which its person asked for it has ended', async () => {
  const owner = await signedInOperator(api, { organizationId, email: 'ola@example.com', role: 'developer' })
  const browser = new Browser()
  browser.cookies.set('verdigraph', owner.cookie!.slice('verdigraph='.length))
  const { path } = (await owner.call('account/single-sign-on.connect', { password: PASSWORD })).body
  const toCallback = await browser.authorize(addPerson('mallory'), `${base}${path}`)
  await owner.call('account/sign-in.end')
  assert.equal((await browser.get(toCallback)).status, 403)
  await owner.signIn('ola@example.com')
  assert.equal((await owner.call('account/single-sign-on.show')).body.is_connected, false)
})

test('a session of single sign-on ends after half a day, and a person without a password signs in again to change how', async () => {
  const browser = new Browser()
  await browser.signIn(addPerson('pia'))
  const { control } = installation.storage
  const accountId = (await browser.console('account/account.show')).body.account.id
  const [session] = await control.query<{ id: string; created_at: string; hours: number }>(
    'SELECT id, created_at, extract(epoch FROM expires_at - created_at)::integer / 3600 AS hours FROM sessions WHERE account_id = $1',
    [accountId],
  )
  assert.equal(session!.hours, 12)
  assert.equal((await browser.console('account/two-factor.begin')).status, 200)
  const began = new Date(Date.parse(session!.created_at) - 600_000).toISOString()
  await rewriteRow(installation, { table: 'sessions', id: session!.id }, { created_at: began })
  const late = await browser.console('account/two-factor.begin')
  assert.deepEqual([late.status, late.body.error.code], [403, 'sign_in_again'])
})

test('an invited person who signs in through the provider first becomes the invited operator', async () => {
  const ida = { email: 'ida@example.com', name: 'Ida', role: 'viewer' }
  const invited = await inviteOperator(installation, byService(organizationId), ida)
  const browser = new Browser()
  assert.equal((await browser.signIn(addPerson('ida'))).status, 200)
  const me = (await browser.console('account/account.show')).body
  assert.equal(me.organizations[0].operator_id, invited.operator.id)
})

test('the last owner stays owner whatever the groups say, and a removed operator stays removed', async () => {
  const kim = addPerson('kim', { groups: ['board'] })
  const browser = new Browser()
  await browser.signIn(kim)
  kim.groups = ['staff']
  assert.equal((await new Browser().signIn(kim)).status, 200)
  assert.equal((await operatorOf('kim@example.com'))!.role, 'owner')

  const lea = addPerson('lea')
  await new Browser().signIn(lea)
  const operator = (await operatorOf('lea@example.com'))!
  const remove = { operator_id: operator.id, reason: 'Left.' }
  assert.equal((await browser.console(`${organizationId}/production/team.remove`, remove)).status, 200)
  const refused = await new Browser().signIn(lea)
  assert.equal(refused.status, 403)
  assert.match(refused.text, /You were removed from this organization/)
})

test('a removed person stays removed while the rows of operator, account and identity are out of sight', async () => {
  const kim = new Browser()
  await kim.signIn(addPerson('kim', { groups: ['board'] }))
  const max = addPerson('max')
  await new Browser().signIn(max)
  const operator = (await operatorOf('max@example.com'))!
  const remove = { operator_id: operator.id, reason: 'Left.' }
  assert.equal((await kim.console(`${organizationId}/production/team.remove`, remove)).status, 200)
  const { control } = installation.storage
  const hideOperator = { table: 'operators', where: 'id = $1', key: operator.id }
  const [refused] = await whileHidden(control, hideOperator, async () => [await new Browser().signIn(max)])
  assert.match(refused!.text, /You were removed from this organization/)
  for (const [table, column] of [
    ['account_identities', 'account_id'],
    ['accounts', 'id'],
    ['operators', 'account_id'],
  ] as const)
    await control.query(`DELETE FROM ${table} WHERE ${column} = $1`, [operator.account_id])
  const asNew = await new Browser().signIn(max)
  assert.match(asNew.text, /You were removed from this organization/)
})

test('the pages Team and sign-in say how single sign-on is set up', async () => {
  const browser = new Browser()
  await browser.signIn(addPerson('mia', { groups: ['risk-admins'] }))
  const { single_sign_on } = (await browser.console(`${organizationId}/production/team.list`)).body
  assert.deepEqual(single_sign_on, {
    issuer: provider.issuer,
    groups_claim: 'groups',
    roles: [
      { group: 'staff', role: 'viewer' },
      { group: 'risk-admins', role: 'admin' },
      { group: 'board', role: 'owner' },
    ],
  })
  const other = await api.newOrganization()
  const elsewhere = await signedInOperator(api, { organizationId: other.id, email: 'ned@example.com', role: 'owner' })
  assert.equal((await elsewhere.call(`${other.id}/production/team.list`)).body.single_sign_on, null)
  const options = await new ConsoleClient(api).call('open/sign-in.show-options')
  assert.deepEqual(options.body.single_sign_on, { provider: new URL(provider.issuer).host })
})
