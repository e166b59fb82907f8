/** A teammate is invited, joins, is restricted by the role, and is removed; all of it is on the audit log. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, assertAccessibleEverywhere, openConsole, settle } from './browser.ts'

const GRACE = { name: 'Grace Roe', email: 'grace@fjordlend.example', password: 'amber kettle window 9' }
const testConsole = await openConsole()
const { organizationId, problems, api } = testConsole

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const rowOf = (tab: Page, text: string) => tab.getByRole('row').filter({ hasText: text })
const openMenu = (tab: Page, name: string) => tab.getByRole('button', { name: `What to do with ${name}` }).click()

/** Calls an operation from within a tab, as a person with a script would. */
function callFrom(tab: Page, name: string, input: object = {}) {
  return tab.evaluate(
    async ([path, body]) => {
      const response = await fetch(path!, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: body!,
      })
      return { status: response.status, body: await response.json() }
    },
    [`/api/${organizationId}/production/${name}`, JSON.stringify(input)],
  )
}

let link = ''
let grace: Page

test('the owner invites a teammate, and the link is shown once', async () => {
  const tab = await testConsole.open('team', { environment: 'production' })
  await tab.getByRole('button', { name: 'Invite' }).click()
  await assertAccessible(tab, 'the invite dialog')
  await tab.getByLabel('Name').fill(GRACE.name)
  await tab.getByLabel('E-mail').fill(GRACE.email)
  await tab.getByRole('radio', { name: 'Developer' }).check()
  await tab.getByRole('button', { name: 'Make and show link' }).click()
  const secret = tab.locator('[data-secret]')
  await secret.waitFor()
  await assertAccessible(tab, 'the invitation link')
  link = (await secret.textContent())!
  assert.match(link, /\/invitation#[\w-]{43}$/)
  await tab.getByRole('button', { name: 'Copy and close' }).click()
  await secret.waitFor({ state: 'hidden' })
  assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), link)
  await rowOf(tab, GRACE.email).getByText('Invited', { exact: true }).waitFor()
  assert.equal((await tab.content()).includes(link), false, 'the link is gone from the page')
  await tab.close()
})

test('the teammate joins by the link, and the console offers and allows only what the role may do', async () => {
  grace = await testConsole.openSignedOut(new URL(link).pathname + new URL(link).hash)
  await grace.getByLabel('Password', { exact: true }).fill(GRACE.password)
  await grace.getByRole('button', { name: 'Create account and join' }).click()
  await grace.waitForURL(`**/${organizationId}/**`)
  await grace.goto(`${testConsole.url}/${organizationId}/production/team`)
  await settle(grace)
  assert.equal(await grace.getByRole('button', { name: 'Invite' }).count(), 0)
  assert.equal(await grace.getByRole('button', { name: /What to do with/ }).count(), 0)
  const invite = { email: 'eve@fjordlend.example', name: 'Eve', role: 'owner' }
  const refused = await callFrom(grace, 'team.invite', invite)
  assert.equal(refused.status, 403)
  assert.match(refused.body.error.message, /Only owner, admin may manage operators/)
  assert.equal((await callFrom(grace, 'api-keys.list')).status, 200)
  const used = await testConsole.openSignedOut(new URL(link).pathname + new URL(link).hash)
  await used.getByRole('heading', { name: /does not work any more/ }).waitFor()
  await used.close()
})

test('the owner changes the role, ends sessions and removes the teammate, who is out at once', async () => {
  const tab = await testConsole.open('team', { environment: 'production' })
  await openMenu(tab, GRACE.name)
  await assertAccessible(tab, 'the menu of an operator')
  await tab.getByRole('menuitem', { name: 'Change role' }).click()
  await tab.getByRole('radio', { name: 'Admin' }).check()
  await tab.getByLabel('Why?').fill('Second person for the live gate.')
  await tab.getByRole('button', { name: 'Change role' }).click()
  await tab.getByText(`${GRACE.name} is admin from now on.`).waitFor()
  assert.equal((await callFrom(grace, 'team.list-sessions', { operator_id: await operatorIdOf(tab) })).status, 200)

  await openMenu(tab, GRACE.name)
  await tab.getByRole('menuitem', { name: /^Sessions/ }).click()
  await tab
    .getByText(/this browser|by an invitation/)
    .first()
    .waitFor()
  await assertAccessible(tab, 'the sessions of an operator')
  await tab
    .getByRole('dialog')
    .getByRole('button', { name: /^End the session of Chrome/ })
    .click()
  const endSession = tab.getByRole('button', { name: 'End session' })
  await endSession.waitFor()
  assert.equal(await endSession.isDisabled(), true, 'a reason has to be given')
  await tab.getByLabel('Why?').fill('A lost laptop.')
  await assertAccessible(tab, 'ending a session of an operator')
  await endSession.click()
  await tab.getByText('Ended a session.').waitFor()
  assert.equal((await callFrom(grace, 'team.list')).status, 401)
  await tab.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()

  await openMenu(tab, GRACE.name)
  await tab.getByRole('menuitem', { name: 'Remove' }).click()
  const remove = tab.getByRole('button', { name: 'Remove operator' })
  await tab.getByLabel('Why?').fill('Left the company.')
  assert.equal(await remove.isDisabled(), true, 'the e-mail has to be typed')
  await tab.getByLabel(/to confirm/).fill(GRACE.email)
  await assertAccessible(tab, 'the removal of an operator')
  await remove.click()
  await tab.getByText(`Removed ${GRACE.email}.`).waitFor()
  await tab.getByRole('button', { name: 'Show 1 removed' }).click()
  await rowOf(tab, GRACE.email).getByText('Removed', { exact: true }).waitFor()
  await tab.close()
})

async function operatorIdOf(tab: Page): Promise<string> {
  const { body } = await callFrom(tab, 'team.list')
  return body.operators.find(({ email }: { email: string }) => email === GRACE.email).id
}

test('the last owner cannot be removed, and the page says why', async () => {
  const tab = await testConsole.open('team', { environment: 'production' })
  await openMenu(tab, 'Ben Ode')
  await tab.getByRole('menuitem', { name: 'Remove' }).click()
  await tab.getByText(/The last owner cannot be removed/).waitFor()
  await tab.getByLabel('Why?').fill('A slip.')
  await tab.getByLabel(/to confirm/).fill('ben@fjordlend.example')
  await tab.getByRole('button', { name: 'Remove operator' }).click()
  await tab
    .getByRole('alert')
    .getByText(/is the last owner who can sign in/)
    .waitFor()
  await tab.close()
})

test('every step is on the audit log', async () => {
  const tab = await testConsole.open('team', { environment: 'production' })
  const trailId = await operatorIdOf(tab)
  const page = { organizationId, trailId, beforeSeq: undefined, limit: 100 }
  const entries = await api.service.installation.stores.production.auditLog.trail(page)
  assert.deepEqual(
    entries.reverse().map(({ type }) => type),
    [
      'operator.invited',
      'operator.joined',
      'operator.signed_in',
      'operator.role_changed',
      'operator.session_ended',
      'operator.removed',
    ],
  )
  await tab.close()
})

test('an invitation is withdrawn with a reason, and its link stops working', async () => {
  const tab = await testConsole.open('team', { environment: 'production' })
  const { name, email } = GRACE
  const { status, body: sent } = await callFrom(tab, 'team.invite', { name, email, role: 'viewer' })
  assert.equal(status, 200, JSON.stringify(sent))
  await tab.reload()
  await settle(tab)
  await openMenu(tab, GRACE.name)
  await tab.getByRole('menuitem', { name: 'Withdraw invitation' }).click()
  await tab.getByLabel('Why?').fill('Sent to the wrong person.')
  await assertAccessible(tab, 'the withdrawal of an invitation')
  await tab.getByRole('button', { name: 'Withdraw invitation' }).click()
  await tab.getByText(`The link for ${GRACE.email} no longer works.`).waitFor()
  const opened = await testConsole.openSignedOut(new URL(sent.link).pathname + new URL(sent.link).hash)
  await opened.getByRole('heading', { name: /does not work any more/ }).waitFor()
  await opened.close()
  const entries = await api.service.installation.stores.production.auditLog.trail({
    organizationId,
    trailId: sent.operator_id,
    beforeSeq: undefined,
    limit: 10,
  })
  const withdrawn = entries.find(({ type }) => type === 'operator.invitation_withdrawn')
  assert.equal(JSON.parse(withdrawn!.data).reason, 'Sent to the wrong person.')
  await tab.close()
})

test('the page is accessible in both themes and at both widths, with a menu open', () =>
  assertAccessibleEverywhere(testConsole, 'team', {
    environment: 'production',
    prepare: async (tab) => {
      await openMenu(tab, 'Ben Ode')
      await tab.getByRole('menuitem', { name: 'Remove' }).waitFor()
    },
  }))
