/** A developer's first hour: a key, a call with it, an endpoint, a test event, another secret. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createKey } from '../../server/src/admin/manage-keys.ts'
import { byService } from '../../server/tests/acts.ts'
import { PASSWORD, signedInOperator } from '../../server/tests/console-client.ts'
import { isSignedBy, startReceiver, until } from '../../server/tests/webhook-receiver.ts'
import { assertAccessible, assertAccessibleEverywhere, openConsole, settle } from './browser.ts'

const testConsole = await openConsole({ WEBHOOKS_ALLOW_LOOPBACK: 'true' })
const { api, problems } = testConsole
let status = 204
const receiver = await startReceiver(() => ({ status, body: status === 204 ? '' : 'maintenance' }))
const host = new URL(receiver.url).host
after(async () => {
  await receiver.close()
  assert.deepEqual(problems, [], 'the browser reported problems')
})

const use = async (key: string) => (await api.request('sandbox', '/v1/usage', { key })).status
const secretOf = async (tab: Page) => (await tab.locator('[data-secret]').textContent())!
const button = (tab: Page, name: string) => tab.getByRole('button', { name, exact: true })
const choose = async (tab: Page, menu: string | RegExp, item: string) => {
  await tab.getByRole('button', { name: menu }).click()
  await tab.getByRole('menuitem', { name: item }).click()
}
const say = async (tab: Page, why: string, act: string) => {
  await tab.getByLabel('Why?').fill(why)
  await button(tab, act).click()
}

test('a key is created, shown once with a warning, copied, and works in a real call', async () => {
  const tab = await testConsole.open('api-keys')
  await button(tab, 'Create key').click()
  await tab.getByLabel('Name', { exact: false }).first().fill('Checkout')
  await tab.getByRole('checkbox', { name: 'usage:read' }).check()
  await assertAccessible(tab, 'the dialog of a new key')
  await button(tab, 'Create and show key').click()
  await tab.getByText('Not copied yet. Closing now means making another key.').waitFor()
  const key = await secretOf(tab)
  await tab.keyboard.press('Escape')
  assert.equal(await secretOf(tab), key, 'Escape does not lose a key that was not copied')
  await assertAccessible(tab, 'a shown key')
  await button(tab, 'Copy').click()
  await tab.getByText('Copied. Keep it where you keep your other secrets.').waitFor()
  assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), key)
  await button(tab, 'Done').click()
  await tab.locator('[data-secret]').waitFor({ state: 'detached' })
  assert.ok(!(await tab.content()).includes(key))
  assert.equal(await use(key), 200)
  const row = tab.getByRole('row', { name: /Checkout/ })
  assert.match((await row.textContent())!, new RegExp(`sk_sandbox_····${key.slice(-4)}`))
  await until('the last use is shown', async () => {
    await tab.reload()
    await settle(tab)
    return /just now|min/.test((await row.textContent())!)
  })
  await tab.close()
})

test('a key is rotated with a grace period, disabled, enabled, and revoked by typing its name', async () => {
  const tab = await testConsole.open('api-keys')
  await choose(tab, /^Actions for Checkout/, 'Rotate…')
  await tab.getByRole('radio', { name: 'Both work for an hour' }).check()
  await say(tab, 'Yearly rotation', 'Rotate and show key')
  const key = await secretOf(tab)
  await button(tab, 'Copy and close').click()
  assert.equal(await use(key), 200)
  await tab.getByText('Rotated, still works').waitFor()

  const acts = new RegExp(`^Actions for Checkout ending in ${key.slice(-4)}`)
  await choose(tab, acts, 'Disable…')
  await say(tab, 'It may have leaked', 'Disable key')
  await tab.getByText(`Disabled “Checkout” (…${key.slice(-4)}).`).waitFor()
  await until('it is refused', async () => (await use(key)) === 401)
  await choose(tab, acts, 'Enable…')
  await say(tab, 'It has not', 'Enable key')
  await until('it works again', async () => (await use(key)) === 200)

  await choose(tab, acts, 'Revoke…')
  await tab.getByLabel('Why?').fill('The shop closed')
  assert.ok(await button(tab, 'Revoke key').isDisabled(), 'nothing is revoked before its name is typed')
  await tab.getByLabel(/to confirm/).fill('Checkout')
  await button(tab, 'Revoke key').click()
  await until('it is refused for good', async () => (await use(key)) === 401)
  await tab.getByRole('row', { name: /Revoked/ }).waitFor()
  await tab.close()
})

test('a developer is offered no scope beyond the role, and is told whom to ask', async () => {
  const name = 'Case management'
  const { installation } = api.service
  const act = byService(testConsole.organizationId)
  await createKey(installation, act, { name, scopes: ['reviews:write'], expiresAt: null })
  const email = 'dora@fjordlend.example'
  await signedInOperator(api, { organizationId: testConsole.organizationId, email, role: 'developer' })
  const tab = await testConsole.openSignedOut('/sign-in')
  await tab.getByLabel('E-mail').fill(email)
  await tab.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await button(tab, 'Sign in').click()
  await tab.waitForURL(`**/${testConsole.organizationId}/**`)
  // Firefox gives a navigation up if the page changes its address meanwhile.
  await settle(tab)
  await tab.goto(`${testConsole.url}/${testConsole.organizationId}/sandbox/api-keys?create=1`)
  await tab.getByRole('checkbox', { name: 'decisions:write' }).waitFor()
  assert.equal(await tab.getByRole('checkbox', { name: 'reviews:write' }).count(), 0)
  await tab.getByText('Ask an owner or an admin for a key with it.').waitFor()
  await button(tab, 'Choose all').click()
  await tab.getByLabel('Name', { exact: false }).first().fill('Checkout of Dora')
  await assertAccessible(tab, 'the dialog of a key for a developer')
  await button(tab, 'Create and show key').click()
  await button(tab, 'Copy and close').click()
  await tab.getByRole('row', { name: /Checkout of Dora/ }).waitFor()
  await tab.getByRole('button', { name: /^Actions for Case management/ }).click()
  await tab.getByText('It has reviews:write: ask an owner or an admin to rotate or enable it.').waitFor()
  assert.equal(await tab.getByRole('menuitem', { name: 'Rotate…' }).count(), 0)
  await tab.getByRole('menuitem', { name: 'Disable…' }).waitFor()
  await tab.close()
})

test('a secret that could not be copied stays on the page', async () => {
  const tab = await testConsole.open('api-keys?create=1')
  await tab.getByLabel('Name', { exact: false }).first().fill('Nightly import')
  await tab.getByRole('checkbox', { name: 'usage:read' }).check()
  await button(tab, 'Create and show key').click()
  const key = await secretOf(tab)
  await tab.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await button(tab, 'Copy and close').click()
  await tab.getByText('Could not copy: select it by hand.').waitFor()
  assert.equal(await secretOf(tab), key)
  assert.doesNotMatch(tab.url(), /create/)
  await tab.close()
})

test('an endpoint is added, a test event arrives there, and is in the list with what was sent', async () => {
  const tab = await testConsole.open('webhooks')
  await tab.getByText('No endpoints yet').waitFor()
  await tab.getByRole('button', { name: 'Add endpoint' }).first().click()
  await tab.getByLabel('URL').fill('https://10.0.0.1/hooks')
  await button(tab, 'Add and show secret').click()
  await tab.getByText(/The URL leads to where nothing may be sent/).waitFor()
  await tab.getByLabel('URL').fill(receiver.url)
  await tab.getByRole('radio', { name: 'Only these' }).check()
  await tab.getByRole('checkbox', { name: 'entity.created' }).check()
  await assertAccessible(tab, 'the dialog of a new endpoint')
  await button(tab, 'Add and show secret').click()
  const secret = await secretOf(tab)
  await button(tab, 'Copy and close').click()
  await tab.getByRole('link', { name: new RegExp(host) }).click()
  await tab.getByRole('heading', { level: 1, name: new RegExp(host) }).waitFor()
  await button(tab, 'Test all endpoints').click()
  await tab.getByText('Sent a test event to 1 enabled endpoint.').waitFor()
  await tab.getByRole('row', { name: /webhook\.test.*Delivered/ }).waitFor()
  await until('the receiver has it', () => receiver.received.some(({ event }) => event.type === 'webhook.test'))
  const [received] = receiver.received
  assert.ok(isSignedBy(secret, received!))
  await tab.getByRole('link', { name: /webhook\.test/ }).click()
  await tab.getByText(`"id": "${received!.id}"`).waitFor()
  await tab.getByText('Headers', { exact: true }).click()
  await tab.getByText(`webhook-signature: ${received!.headers['webhook-signature']}`).waitFor()
  assert.match(tab.url(), /open=evt_/)
  await assertAccessible(tab, 'an unfolded delivery')
  await tab.close()
})

test('the secret is rotated with an overlap that ends early', async () => {
  const tab = await testConsole.open('webhooks')
  await tab.getByRole('link', { name: new RegExp(host) }).click()
  await button(tab, 'Rotate secret').click()
  await say(tab, 'Yearly rotation', 'Rotate and show secret')
  const secret = await secretOf(tab)
  await button(tab, 'Copy and close').click()
  await tab.getByText('The previous secret signs too until').waitFor()
  await tab.getByRole('button', { name: 'End the overlap now…' }).click()
  await tab.getByLabel(/to confirm/).fill(host)
  await say(tab, 'The receiver has the new one', 'End overlap')
  await tab.getByText('Only the newest secret signs now.').waitFor()
  const before = receiver.received.length
  await button(tab, 'Test all endpoints').click()
  await until('it arrives', () => receiver.received.length > before)
  const last = receiver.received.at(-1)!
  assert.ok(isSignedBy(secret, last))
  assert.equal(last.headers['webhook-signature']!.split(' ').length, 1)
  await tab.close()
})

test('a failing endpoint says so; a delivery is sent again by hand and across endpoints', async () => {
  status = 503
  const tab = await testConsole.open('webhooks')
  await button(tab, 'Test all endpoints').click()
  // A reload takes back a request that was not sent yet.
  await tab.getByText('Sent a test event to 1 enabled endpoint.').waitFor()
  await until('it is refused', async () => {
    await tab.reload()
    await settle(tab)
    return (await tab.getByText(/Failing for/).count()) > 0
  })
  await tab.getByRole('link', { name: 'All deliveries' }).click()
  await tab.getByRole('button', { name: 'Status' }).click()
  await tab.getByRole('menuitem', { name: '5xx' }).click()
  await tab.getByRole('link', { name: /webhook\.test/ }).click()
  await tab.getByText('Answer', { exact: true }).click()
  await tab.getByText('maintenance').waitFor()
  // The receiver recovers with the request itself: any earlier, an attempt of the dispatcher could deliver the event first.
  await tab.route('**/deliveries.redeliver', (route) => {
    status = 204
    return route.continue()
  })
  await tab.getByRole('button', { name: 'Redeliver now' }).click()
  await tab.getByText('Queued. It goes out at once, with the current secret.').waitFor()
  await until('it is delivered', async () => {
    await tab.reload()
    await settle(tab)
    return (await tab.getByText('No delivery matches these filters.').count()) === 1
  })
  await tab.close()
})

test('the page Usage says since when usage is kept, once the period begins before that', async () => {
  const tab = await testConsole.open('usage')
  await tab.getByText('days in UTC').waitFor()
  await settle(tab)
  assert.equal(await tab.getByText('is no longer kept').count(), 0)
  await tab.goto(`${tab.url()}?from=2020-01-01&to=2020-02-01`)
  await tab.getByText(/days in UTC; usage before .* is no longer kept/).waitFor()
  await tab.close()
})

test('the pages are accessible in both themes, at both widths, with a menu open', async () => {
  const endpoint = await testConsole.open('webhooks')
  await endpoint.getByRole('link', { name: new RegExp(host) }).click()
  await endpoint.waitForURL(/whe_/)
  const path = new URL(endpoint.url()).pathname.split('/').slice(3).join('/')
  const openMenu = (name: string | RegExp) => async (tab: Page) => {
    await tab.getByRole('button', { name }).first().click()
    await tab.getByRole('menu').waitFor()
  }
  await assertAccessibleEverywhere(testConsole, 'api-keys', { prepare: openMenu(/^Actions for/) })
  await assertAccessibleEverywhere(testConsole, 'webhooks')
  await assertAccessibleEverywhere(testConsole, path, { prepare: openMenu('More actions') })
  await assertAccessibleEverywhere(testConsole, 'deliveries', { prepare: openMenu('State') })
})
