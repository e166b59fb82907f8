/** How people get in: the first link, an invitation, a password with a code, a passkey; and how sessions end. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { inviteOperator, type SentInvitation } from '../../server/src/admin/invitations.ts'
import { addOperator } from '../../server/src/admin/manage-operators.ts'
import { findCommand } from '../../server/src/cli/commands.ts'
import { firstOrganizationId } from '../../server/src/store/control/organizations.ts'
import { byService } from '../../server/tests/acts.ts'
import { Authenticator } from '../../server/tests/authenticator.ts'
import {
  assertAccessible,
  isFirefox,
  launch,
  newContext,
  SIZES,
  settle,
  startConsoleService,
  THEMES,
} from './browser.ts'

const api = await startConsoleService()
const browser = await launch()
after(() => browser.close())
// Passkeys are bound to a host name, so the journey opens the console under one.
const url = api.service.urls.console!.replace('127.0.0.1', 'localhost')
const problems: string[] = []
const profile = () => newContext(browser, { url, problems })
const OWNER = { name: 'Ben Ode', email: 'ben@fjordlend.example', password: 'quiet harbour lantern 7' }
const TEAMMATE = { name: 'Ada Quist', email: 'ada@fjordlend.example', password: 'seven slow ferries north' }
const firstLink = /\/welcome#\S+/.exec(api.service.firstRunText ?? '')![0]
const owner = await profile()

async function openTab(context: BrowserContext, path: string): Promise<Page> {
  const tab = await context.newPage()
  await tab.goto(url + path)
  return tab
}

async function signIn(tab: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await tab.getByLabel('E-mail').fill(email)
  await tab.getByRole('textbox', { name: 'Password' }).fill(password)
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** The calls of a tab that the server refuses from now on. */
function refusedCalls(tab: Page): string[] {
  const refused: string[] = []
  tab.on('response', (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${new URL(response.url()).pathname}`)
  })
  return refused
}

/** Checks what a path shows in both themes and at both widths. */
async function assertAccessibleEverywhere(context: BrowserContext, path: string): Promise<void> {
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const theme of THEMES) {
      const tab = await context.newPage()
      await tab.setViewportSize(viewport)
      await tab.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await tab.goto(url + path)
      await settle(tab)
      await assertAccessible(tab, `${path.split('#')[0]} (${size}, ${theme})`)
      const overflow = await tab.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      assert.ok(overflow <= 0, `${path.split('#')[0]} is ${overflow} px wider than the window`)
      await tab.close()
    }
  }
}

test('the first link makes the owner, who lands in the overview; afterwards the link is dead', async () => {
  await assertAccessibleEverywhere(owner, firstLink)
  const tab = await openTab(owner, firstLink)
  await tab.getByLabel('Your name').fill(OWNER.name)
  await tab.getByLabel('E-mail').fill(OWNER.email)
  await tab.getByLabel('Organization').fill('Fjordlend')
  await tab.getByRole('textbox', { name: 'Password' }).fill('Password1234!')
  await tab.getByRole('button', { name: 'Create owner and sign in' }).click()
  await tab.getByText('This password is made of what attackers try first').waitFor()
  await tab.getByRole('textbox', { name: 'Password' }).fill(OWNER.password)
  const refused = refusedCalls(tab)
  await tab.getByRole('button', { name: 'Create owner and sign in' }).click()
  await tab.waitForURL(/\/org_\w+\/sandbox\/overview$/)
  await tab.getByText('Fjordlend').first().waitFor()
  assert.deepEqual(refused, [], 'the used link is not asked for again')
  await tab.close()
  const stranger = await openTab(await profile(), firstLink)
  await stranger.getByRole('heading', { name: 'This link does not work any more' }).waitFor()
  await assertAccessible(stranger, 'a dead link')
})

test('a person signs in and comes back to the page they asked for; signing out ends the session', async () => {
  await assertAccessibleEverywhere(await profile(), '/sign-in')
  const context = await profile()
  const tab = await openTab(context, '/account')
  await tab.waitForURL(/\/sign-in\?next=%2Faccount$/)
  await signIn(tab, { ...OWNER, password: 'not the password' })
  await tab.getByText('The e-mail or the password is not right.').waitFor()
  await assertAccessible(tab, 'sign-in with an error')
  await signIn(tab, OWNER)
  await tab.waitForURL(/\/account$/)
  await tab.getByRole('heading', { name: 'Your account' }).waitFor()
  await tab.getByText('This browser').waitFor()
  await tab.goto(url)
  await tab.getByRole('button', { name: /^Your account/ }).click()
  await tab.getByRole('menuitem', { name: 'Sign out' }).click()
  await tab.waitForURL(/\/sign-in$/)
  await tab.goto(`${url}/account`)
  await tab.waitForURL(/\/sign-in/)
})

test('a stranger who guesses the password keeps its person out of no browser that they use, and of no open session', async () => {
  const guessing = await openTab(await profile(), '/sign-in')
  for (let tries = 0; tries < 5; tries++) {
    await signIn(guessing, { ...OWNER, password: `guess ${tries}` })
    await guessing.getByText('The e-mail or the password is not right.').waitFor()
  }
  await signIn(guessing, OWNER)
  await guessing.getByText('Too many attempts to sign in. Further ones are refused for a minute.').waitFor()
  await assertAccessible(guessing, 'sign-in while it is locked')

  const tab = await openTab(owner, '/account')
  await tab.getByRole('button', { name: 'Turn on two-factor' }).click()
  await tab.getByRole('textbox', { name: 'Your password' }).fill(OWNER.password)
  await tab.getByRole('button', { name: 'Continue' }).click()
  await tab.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
  await tab.goto(url)
  await tab.getByRole('button', { name: /^Your account/ }).click()
  await tab.getByRole('menuitem', { name: 'Sign out' }).click()
  await tab.waitForURL(/\/sign-in$/)
  await signIn(tab, OWNER)
  await tab.waitForURL(/overview$/)
  await tab.close()
  // A minute later, strangers may try again.
  await api.service.installation.storage.control.query('DELETE FROM sign_in_failures')
})

test('an invited teammate makes an account by the link, which then works no more', async () => {
  const { installation } = api.service
  const organizationId = await firstOrganizationId(installation.storage.control)
  const sent = await inviteOperator(installation, byService(organizationId), { ...TEAMMATE, role: 'reviewer' })
  const path = /\/invitation#\S+/.exec(sent.link)![0]
  const context = await profile()
  await assertAccessibleEverywhere(context, path)
  const tab = await openTab(context, path)
  await tab.getByRole('heading', { name: 'Join Fjordlend' }).waitFor()
  assert.equal(await tab.getByLabel('E-mail').inputValue(), TEAMMATE.email)
  await tab.getByRole('textbox', { name: 'Password' }).fill(TEAMMATE.password)
  const refused = refusedCalls(tab)
  await tab.getByRole('button', { name: 'Create account and join' }).click()
  await tab.waitForURL(/\/sandbox\/overview$/)
  await tab.getByRole('button', { name: 'Your account, Ada Quist' }).waitFor()
  assert.deepEqual(refused, [], 'the used link is not asked for again')
  const again = await openTab(await profile(), path)
  await again.getByRole('heading', { name: 'This link does not work any more' }).waitFor()
})

test('an operator whom the command line knows by codes gives one to take up the invitation', async () => {
  const { installation } = api.service
  const organizationId = await firstOrganizationId(installation.storage.control)
  const act = byService(organizationId)
  const lin = { name: 'Lin Ode', email: 'lin@fjordlend.example', role: 'policy_author' }
  const added = await addOperator(installation, act, lin)
  const sent = await inviteOperator(installation, act, lin)
  const context = await profile()
  const path = /\/invitation#\S+/.exec(sent.link)![0]
  await assertAccessibleEverywhere(context, path)
  const tab = await openTab(context, path)
  await tab.getByRole('textbox', { name: 'Password' }).fill('nine green lanterns west')
  const code = tab.getByLabel('Code of your authenticator app')
  await code.fill('000000')
  await tab.getByRole('button', { name: 'Create account and join' }).click()
  await tab.getByText(/not a valid code of lin@fjordlend.example/).waitFor()
  await assertAccessible(tab, 'an invitation with a wrong code')
  await code.fill(new Authenticator(added.code_secret).next())
  await tab.getByRole('button', { name: 'Create account and join' }).click()
  await tab.waitForURL(/\/sandbox\/overview$/)
  await tab.getByRole('button', { name: 'Your account, Lin Ode' }).waitFor()
})

test('two-factor: turned on with a QR code, asked for at the next sign-in, and a recovery code works once', async () => {
  const context = await profile()
  const tab = await openTab(context, '/sign-in?next=/account')
  await signIn(tab, TEAMMATE)
  await tab.getByRole('button', { name: 'Turn on two-factor' }).click()
  await tab.getByRole('textbox', { name: 'Your password' }).fill(TEAMMATE.password)
  await tab.getByRole('button', { name: 'Continue' }).click()
  await tab.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
  await assertAccessible(tab, 'the dialog with the QR code')
  const secret = (await tab.getByRole('dialog').locator('code').textContent())!
  const app = new Authenticator(secret)
  await tab.getByLabel('Code that the app shows now').fill(app.next())
  await tab.getByRole('dialog').getByRole('button', { name: 'Turn on two-factor' }).click()
  const codes = tab.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')
  await codes.first().waitFor()
  const kept = await codes.allTextContents()
  assert.equal(kept.length, 10)
  await assertAccessible(tab, 'the dialog with recovery codes')
  await tab.getByRole('button', { name: 'I have kept them' }).click()
  await tab.getByText('10 recovery codes are left').waitFor()

  for (const [index, works] of [true, false].entries()) {
    const other = await openTab(await profile(), '/sign-in')
    await signIn(other, TEAMMATE)
    await other.getByRole('heading', { name: 'Enter the code of your app' }).waitFor()
    if (index === 0) await assertAccessible(other, 'the code step')
    await other.getByRole('button', { name: 'Use a recovery code' }).click()
    await other.getByLabel('Recovery code').fill(kept[0]!)
    await other.getByRole('button', { name: 'Sign in', exact: true }).click()
    if (works) await other.waitForURL(/overview$/)
    else await other.getByText('This code is not right').waitFor()
  }
})

test('an owner who joined in the console sets up codes there, and the command line takes them', async () => {
  const tab = await openTab(owner, '/account')
  await tab.getByText('Without codes you can neither vouch for an operator').waitFor()
  await tab.getByRole('button', { name: 'Set up codes' }).click()
  await tab.getByRole('textbox', { name: 'Your password' }).fill(OWNER.password)
  await tab.getByRole('button', { name: 'Continue' }).click()
  await tab.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
  await assertAccessible(tab, 'the dialog with the QR code for the command line')
  const app = new Authenticator((await tab.getByRole('dialog').locator('code').textContent())!)
  await tab.getByLabel('Code that the app shows now').fill('000000')
  await tab.getByRole('dialog').getByRole('button', { name: 'Set up codes' }).click()
  await tab.getByText('This code is not right.').waitFor()
  await tab.getByLabel('Code that the app shows now').fill(app.next())
  await tab.getByRole('dialog').getByRole('button', { name: 'Set up codes' }).click()
  await tab.getByText('The command line takes the codes of this app from now on.').waitFor()
  await tab.getByRole('button', { name: 'Replace codes' }).waitFor()
  const vouched = (await findCommand('operators invite')!.run(api.service.installation, {
    positionals: ['new@fjordlend.example'],
    options: { name: 'New Person', role: 'viewer', as: OWNER.email, code: app.next() },
    caller: 'a test',
  })) as SentInvitation
  assert.equal(vouched.operator.email, 'new@fjordlend.example')
  await tab.close()
})

/** Two clicks within one frame, as a double click on a slow page makes. */
function clickTwice(button: Locator): Promise<void> {
  return button.evaluate((element: HTMLElement) => {
    element.click()
    element.click()
  })
}

test('a passkey is added and signs in without password and code; removed, it does not', {
  skip: isFirefox && 'only Chromium has a virtual authenticator',
}, async () => {
  const tab = await openTab(owner, '/account')
  const authenticator = await owner.newCDPSession(tab)
  await authenticator.send('WebAuthn.enable')
  const { authenticatorId } = await authenticator.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await tab.getByRole('button', { name: 'Add a passkey' }).click()
  await tab.getByLabel('Name', { exact: true }).fill('Laptop')
  await tab.getByRole('textbox', { name: 'Your password' }).fill(OWNER.password)
  const sent: string[] = []
  tab.on('request', (request) => void sent.push(new URL(request.url()).pathname))
  await clickTwice(tab.getByRole('button', { name: 'Continue' }))
  await tab.getByText('not used yet').waitFor()
  assert.deepEqual(
    sent.filter((path) => path.startsWith('/api/account/passkeys')),
    ['/api/account/passkeys.begin', '/api/account/passkeys.add'],
  )

  await tab.evaluate(() =>
    fetch('/api/account/sign-in.end', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    }),
  )
  await tab.goto(`${url}/sign-in?next=/account`)
  await clickTwice(tab.getByRole('button', { name: 'Continue with a passkey' }))
  await tab.waitForURL(/\/account$/)
  await tab.getByText(/by passkey/).waitFor()
  assert.equal(sent.filter((path) => path === '/api/open/sign-in.give-passkey').length, 1)
  await assertAccessibleEverywhere(owner, '/account')

  await tab.getByRole('button', { name: 'Remove Laptop' }).click()
  await tab.getByRole('button', { name: 'Remove passkey' }).click()
  await tab.getByText('A passkey signs you in with your fingerprint').waitFor()
  await tab.goto(`${url}/sign-in`)
  await tab.getByRole('button', { name: 'Continue with a passkey' }).click()
  await tab.getByText('This passkey is not known here').waitFor()
  await authenticator.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
  await tab.close()
})

test('another session is listed and ended from the account page', async () => {
  const phone = await openTab(await profile(), '/sign-in?next=/account')
  await signIn(phone, OWNER)
  await phone.getByRole('heading', { name: 'Your account' }).waitFor()
  const tab = await openTab(owner, '/account')
  await tab.getByRole('button', { name: 'End all other sessions' }).click()
  await tab.getByText(/other sessions? ha(s|ve) ended/).waitFor()
  await phone.reload()
  await phone.waitForURL(/\/sign-in/)
})

test('nothing went wrong in any tab, and nothing was loaded from another host', () => {
  assert.deepEqual(problems, [])
})
