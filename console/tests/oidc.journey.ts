/** A person signs in to the console through a real OpenID Connect provider, in a real browser. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startProviderProcess } from '../../server/tests/identity-provider-process.ts'
import { freePorts } from '../../server/tests/service-process.ts'
import { assertAccessible, launch, OWNER, openConsole } from './browser.ts'

const port = (await freePorts()).console
const person = (sub: string, name: string, groups: string[]) => {
  return { sub, name, email: `${sub}@example.com`, email_verified: true, groups }
}
const provider = await startProviderProcess({
  clients: [
    {
      client_id: 'verdigraph',
      client_secret: 'a secret of a test',
      redirect_uris: [`http://127.0.0.1:${port}/api/oidc/callback`],
    },
  ],
  people: [
    person('ada', 'Ada Lund', ['analysts']),
    person('gil', 'Gil Guest', ['guests']),
    person('ben.o', 'Ben at the provider', ['analysts']),
    // The first letter of the address is Cyrillic.
    { ...person('mal', 'Mal Ory', ['analysts']), email: 'аda@example.com' },
  ],
})
after(() => provider.stop())
const testConsole = await openConsole({
  CONSOLE_PORT: String(port),
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: 'verdigraph',
  OIDC_CLIENT_SECRET: 'a secret of a test',
  OIDC_ROLES: 'analysts=viewer',
})

/** A browser of its own: it visits another host, the provider, which the tabs of the harness report as a problem. */
const browser = await launch()
after(() => browser.close())

async function openSignIn() {
  const tab = await (await browser.newContext()).newPage()
  await tab.goto(`${testConsole.url}/sign-in`)
  await tab.locator('a[href^="/api/oidc/start"]').click()
  await tab.getByRole('heading', { name: 'Who are you?' }).waitFor()
  return tab
}

test('a person of a mapped group comes back signed in, with the role of the group', async () => {
  const tab = await openSignIn()
  await tab.getByRole('link', { name: 'Ada Lund' }).click()
  await tab.waitForURL(`**/${testConsole.organizationId}/**`)
  const cookies = await tab.context().cookies(testConsole.url)
  const session = cookies.find(({ name }) => name === 'verdigraph')
  assert.deepEqual([session?.httpOnly, session?.sameSite], [true, 'Strict'])
  assert.equal(
    cookies.some(({ name }) => name === 'verdigraph-oidc'),
    false,
  )
  await tab.goto(`${testConsole.url}/${testConsole.organizationId}/production/team`)
  await tab.getByRole('row').filter({ hasText: 'ada@example.com' }).getByText('Viewer', { exact: true }).waitFor()
  await tab.getByText(provider.issuer).waitFor()
  assert.equal(await tab.getByRole('button', { name: 'Invite' }).count(), 0)
})

test('a person of no mapped group is told why, and gets no session', async () => {
  const tab = await openSignIn()
  await tab.getByRole('link', { name: 'Gil Guest' }).click()
  await tab.getByText(/none of the groups that may use this console/).waitFor()
  const cookies = await tab.context().cookies(testConsole.url)
  assert.equal(
    cookies.some(({ name }) => name === 'verdigraph'),
    false,
  )
  await tab.getByRole('link', { name: 'Back to sign-in' }).click()
  await tab.waitForURL('**/sign-in')
})

test('a person whose e-mail looks like that of another is told why, and becomes no operator', async () => {
  const tab = await openSignIn()
  await tab.getByRole('link', { name: 'Mal Ory' }).click()
  await tab.getByText(/an e-mail address that this console does not accept/).waitFor()
  await assertAccessible(tab, 'a sign-in through the provider that was refused')
  await tab.getByRole('link', { name: 'Back to sign-in' }).click()
  await tab.waitForURL('**/sign-in')
  const team = await testConsole.open('team', { environment: 'production' })
  await team.getByText(OWNER.email).waitFor()
  assert.equal(await team.getByText('Mal Ory').count(), 0)
  await team.close()
})

test('a browser that sends the answer of the provider a second time is not signed in again', async () => {
  const tab = await openSignIn()
  const [callback] = await Promise.all([
    tab.waitForRequest((request) => request.url().includes('/api/oidc/callback')),
    tab.getByRole('link', { name: 'Ada Lund' }).click(),
  ])
  const { cookie } = await callback.allHeaders()
  await tab.waitForURL(`**/${testConsole.organizationId}/**`)
  const context = await browser.newContext()
  const [name, value] = /verdigraph-oidc=([^;]+)/.exec(cookie!)!
  await context.addCookies([{ name: name.split('=')[0]!, value: value!, url: testConsole.url }])
  const thief = await context.newPage()
  await thief.goto(callback.url())
  await thief.getByText('This answer of the identity provider was used already. Sign in again.').waitFor()
  assert.equal(
    (await context.cookies(testConsole.url)).some((kept) => kept.name === 'verdigraph'),
    false,
  )
})

test('a person with a password confirms it, connects the provider, and then signs in through it to the same account', async () => {
  const tab = await (await browser.newContext()).newPage()
  await tab.goto(`${testConsole.url}/sign-in?next=/account`)
  await tab.getByLabel('E-mail').fill(OWNER.email)
  await tab.getByRole('textbox', { name: 'Password' }).fill(OWNER.password)
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
  await tab.waitForURL('**/account')
  await tab.getByRole('button', { name: 'Connect', exact: true }).click()
  const dialog = tab.getByRole('dialog', { name: 'Connect single sign-on' })
  await dialog.waitFor()
  await assertAccessible(tab, 'the dialog that connects single sign-on')
  const confirm = async (password: string) => {
    await dialog.getByRole('textbox', { name: 'Your password' }).fill(password)
    await dialog.getByRole('button', { name: 'Continue' }).click()
  }
  await confirm('not the password')
  await dialog.getByText('This is not your password.').waitFor()
  await confirm(OWNER.password)
  await tab.getByRole('link', { name: 'Ben at the provider' }).click()
  await tab.waitForURL('**/account')
  await tab.getByText(`Connected: ${new URL(provider.issuer).host} signs you in.`).waitFor()

  const other = await openSignIn()
  await other.getByRole('link', { name: 'Ben at the provider' }).click()
  await other.waitForURL(`**/${testConsole.organizationId}/**`)
  await other.getByRole('button', { name: `Your account, ${OWNER.name}` }).waitFor()
})
