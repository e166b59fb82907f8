import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { CONSOLE_FOLDER } from '../../server/src/console/page-build.ts'
import {
  assertAccessible,
  assertAccessibleEverywhere,
  OWNER,
  openConsole,
  SIZES,
  settle,
  THEMES,
  untilEqual,
} from './browser.ts'

const FIRST_LOAD_GZIP_BYTES_MAX = 300_000
const testConsole = await openConsole()
const { organizationId, problems } = testConsole

after(() => assert.deepEqual(problems, [], 'the browser reported problems'))

const heading = (tab: Page) => tab.locator('h1').first().textContent()

test('every page of the navigation opens by its link, by its address, and names itself in the tab', async () => {
  const tab = await testConsole.open('overview')
  const links = await tab.getByRole('navigation', { name: 'Main' }).getByRole('link').all()
  assert.ok(links.length >= 7)
  for (const link of links) {
    const name = (await link.textContent())!
    await link.click()
    await tab.getByRole('heading', { level: 1, name }).waitFor()
    await untilEqual(() => link.getAttribute('aria-current'), 'page')
    await untilEqual(() => tab.title(), `${name} · Verdigraph`)
    const other = await testConsole.open(new URL(tab.url()).pathname.split('/').slice(3).join('/'))
    assert.equal(await heading(other), name)
    await other.close()
  }
  await tab.close()
})

test('sandbox and production cannot be mistaken for each other, and the environment is in the URL', async () => {
  const tab = await testConsole.open('api-keys')
  const bar = () =>
    tab.evaluate(() => getComputedStyle(document.querySelector('header[data-env]')!, '::before').backgroundImage)
  assert.match(await bar(), /repeating-linear-gradient/)
  const environments = tab.getByRole('navigation', { name: 'Environment' })
  await environments.getByRole('link', { name: 'Production' }).click()
  await tab.waitForURL(`**/${organizationId}/production/api-keys`)
  await untilEqual(bar, 'none')
  await untilEqual(() => environments.getByRole('link', { name: 'Production' }).getAttribute('aria-current'), 'true')
  await untilEqual(() => tab.evaluate(() => document.documentElement.dataset.env), 'production')
  await tab.goBack()
  await tab.waitForURL(`**/${organizationId}/sandbox/api-keys`)
  await tab.close()
})

/** Runs the first command of the menu that a text finds. */
async function runCommand(tab: Page, text: string): Promise<void> {
  const search = tab.getByRole('textbox', { name: 'Search and commands' })
  await tab.keyboard.press('Control+k')
  await search.fill(text)
  await tab.keyboard.press('Enter')
  await search.waitFor({ state: 'hidden' })
}

const ENDPOINT_ID = 'whe_01m7gq0t3fe2yab8cd9ef0gh1k'

test('the command menu finds pages, switches the environment, and jumps to a pasted id', async () => {
  const tab = await testConsole.open('overview')
  await runCommand(tab, 'audit')
  await tab.waitForURL('**/sandbox/audit-log')
  await runCommand(tab, 'switch to production')
  await tab.waitForURL('**/production/audit-log')
  await runCommand(tab, ENDPOINT_ID)
  await tab.waitForURL(`**/production/webhooks/${ENDPOINT_ID}`)
  await tab.close()
})

test('what is chosen while the page of another environment loads goes to that environment', async () => {
  const ways: { to: string; choose: (tab: Page) => Promise<void> }[] = [
    { to: `webhooks/${ENDPOINT_ID}`, choose: (tab) => runCommand(tab, ENDPOINT_ID) },
    {
      to: 'usage',
      async choose(tab) {
        await tab.keyboard.press('g')
        await tab.keyboard.press('u')
      },
    },
    {
      to: 'usage',
      choose: (tab) => tab.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Usage' }).click(),
    },
  ]
  for (const { to, choose } of ways) {
    const tab = await testConsole.open('overview')
    const loaded = Promise.withResolvers<void>()
    await tab.route('**/assets/team-page-*.js', async (route) => {
      await loaded.promise
      await route.continue()
    })
    await runCommand(tab, 'team')
    await tab.waitForURL('**/sandbox/team')
    await runCommand(tab, 'switch to production')
    await tab.waitForURL('**/production/team')
    assert.equal(await heading(tab), 'Overview')
    await choose(tab)
    await tab.waitForURL(`**/production/${to}`)
    loaded.resolve()
    await tab.close()
  }
})

test('a key in the first moments of a page is not the second one of a sequence', async () => {
  const tab = await testConsole.open('overview')
  await tab.evaluate(() => {
    const press = new KeyboardEvent('keydown', { key: 'a', bubbles: true })
    // As on a page that was opened half a second ago.
    Object.defineProperty(press, 'timeStamp', { value: 500 })
    document.body.dispatchEvent(press)
  })
  await settle(tab)
  assert.match(tab.url(), /\/overview$/)
  await tab.close()
})

test('keys open pages and the list of shortcuts, but not while a person types', async () => {
  const tab = await testConsole.open('overview')
  await tab.keyboard.press('g')
  await tab.keyboard.press('t')
  await tab.waitForURL('**/sandbox/team')
  await tab.keyboard.press('?')
  const list = tab.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await list.getByText('Search and commands').waitFor()
  for (const group of await list.getByRole('region').all()) {
    const keys = await group.locator('dd').allTextContents()
    assert.equal(new Set(keys).size, keys.length, `two shortcuts have the same keys: ${keys}`)
  }
  const replay = list.getByRole('region', { name: 'On a decision' })
  assert.equal(await replay.innerText(), 'On a decision\nReplay the decision\nR')
  const playground = list.getByRole('region', { name: 'In the playground' })
  assert.match(await playground.innerText(), /Decide\nCtrl\s*↵/)
  await tab.keyboard.press('g')
  await tab.keyboard.press('o')
  await tab.keyboard.press('Escape')
  await list.waitFor({ state: 'hidden' })
  assert.match(tab.url(), /\/team$/)
  await tab.close()
})

test('the theme follows the system until a person chooses one, and the choice survives a reload', async () => {
  const tab = await testConsole.open('overview', { theme: 'dark' })
  const scheme = () => tab.evaluate(() => document.documentElement.dataset.mantineColorScheme)
  await untilEqual(scheme, 'dark')
  await tab.getByRole('button', { name: 'Theme: system' }).click()
  await tab.getByRole('menuitem', { name: 'Light' }).click()
  await untilEqual(scheme, 'light')
  await tab.reload()
  await untilEqual(scheme, 'light')
  await tab.evaluate(() => localStorage.removeItem('mantine-color-scheme-value'))
  await tab.close()
})

test('on a phone the navigation folds away and closes after a choice', async () => {
  const tab = await testConsole.open('overview', { size: 'phone' })
  const team = tab.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Team' })
  assert.equal((await team.isVisible()) && (await isOnScreen(team)), false)
  await tab.getByRole('button', { name: 'Open navigation' }).click()
  await team.click()
  await tab.waitForURL('**/team')
  await tab.waitForFunction(() => document.querySelector('aside')!.getBoundingClientRect().right <= 0)
  await tab.close()
})

async function isOnScreen(locator: ReturnType<Page['getByRole']>): Promise<boolean> {
  const box = await locator.boundingBox()
  return box !== null && box.x + box.width > 0
}

test('addresses that lead nowhere say so, and a foreign organization looks the same as none', async () => {
  const texts = new Set<string>()
  for (const path of [
    '/nowhere',
    '/org_00000000000000000000000000/sandbox/overview',
    `/${organizationId}/staging/team`,
  ]) {
    const tab = await testConsole.open('overview')
    await tab.goto(testConsole.url + path)
    await tab.getByRole('heading', { name: 'There is no page here for you' }).waitFor()
    texts.add((await tab.textContent('main'))!)
    await tab.close()
  }
  assert.equal(texts.size, 1)
})

const REQUEST_ID = 'req_00000000000000000000000000'

/** Makes signing out fail with a 500, the one answer that a healthy service does not give, and leaves its toast open. */
async function failToSignOut(tab: Page): Promise<void> {
  const error = { message: 'Something in the service failed.', code: 'internal_error', request_id: REQUEST_ID }
  await tab.route('**/api/account/sign-in.end', (route) => route.fulfill({ status: 500, json: { error } }))
  const navigation = tab.getByRole('button', { name: 'Open navigation' })
  if (await navigation.isVisible()) await navigation.click()
  await tab.getByRole('button', { name: /Your account/ }).click()
  await assertAccessible(tab, 'the user menu')
  await tab.getByRole('menuitem', { name: 'Sign out' }).click()
  await tab.getByRole('alert').getByText(error.message).waitFor()
}

test('an error stays as a toast with the request id that the server logged, until it is closed', async () => {
  const tab = await testConsole.open('overview')
  await failToSignOut(tab)
  const toast = tab.getByRole('alert')
  await toast.getByRole('button', { name: `Copy ${REQUEST_ID}` }).click()
  assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), REQUEST_ID)
  await tab.clock.install()
  await tab.clock.fastForward(60_000)
  assert.ok(await toast.isVisible())
  await toast.getByRole('button', { name: 'Dismiss' }).click()
  await toast.waitFor({ state: 'hidden' })
  await tab.close()
})

test('an error toast is accessible in both themes and widths', () =>
  assertAccessibleEverywhere(testConsole, 'overview', { prepare: failToSignOut }))

test('without a session every page leads to signing in, and back to where it was asked for', async () => {
  const tab = await testConsole.openSignedOut(`/${organizationId}/production/team`)
  await tab.waitForURL('**/sign-in?next=**')
  await tab.getByLabel('E-mail').fill(OWNER.email)
  await tab.getByLabel('Password', { exact: true }).fill(OWNER.password)
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
  await tab.waitForURL(`**/${organizationId}/production/team`)
  await tab.context().close()
})

test('the content security policy refuses scripts, styles and connections that are not the page’s own', async () => {
  const tab = await testConsole.open('overview')
  const before = problems.length
  const ran = await tab.evaluate(async () => {
    const script = document.createElement('script')
    script.textContent = 'window.injected = true'
    document.body.append(script)
    const style = document.createElement('style')
    style.textContent = 'body { outline: 5px solid red }'
    document.body.append(style)
    const reached = await fetch('http://192.0.2.1/').then(
      () => true,
      () => false,
    )
    return { script: 'injected' in window, style: getComputedStyle(document.body).outlineWidth, reached }
  })
  assert.equal(ran.script, false)
  assert.notEqual(ran.style, '5px')
  assert.equal(ran.reached, false)
  await tab.waitForTimeout(100)
  const refused = problems.splice(before)
  assert.ok(refused.length >= 3, refused.join('\n'))
  assert.ok(
    refused.every((problem) => /Content Security Policy|192\.0\.2\.1/.test(problem)),
    refused.join('\n'),
  )
  await tab.close()
})

test('the shell, its menus and dialogs are accessible in both themes and widths', async () => {
  for (const size of Object.keys(SIZES) as (keyof typeof SIZES)[]) {
    for (const theme of THEMES) {
      const tab = await testConsole.open('overview', { size, theme })
      const what = (state: string) => `${state} (${size}, ${theme})`
      await tab.keyboard.press('?')
      await tab.getByRole('dialog').waitFor()
      await assertAccessible(tab, what('the list of shortcuts'))
      await tab.keyboard.press('Escape')
      await tab.getByRole('dialog').waitFor({ state: 'hidden' })
      await tab.keyboard.press('Control+k')
      await tab.getByRole('dialog').waitFor()
      await assertAccessible(tab, what('the command menu'))
      await tab.keyboard.press('Escape')
      await tab.getByRole('dialog').waitFor({ state: 'hidden' })
      if (size === 'phone') await tab.getByRole('button', { name: 'Open navigation' }).click()
      await tab.getByRole('button', { name: /^Theme/ }).click()
      await assertAccessible(tab, what('the theme menu'))
      await tab.goto(`${testConsole.url}/nowhere`)
      await settle(tab)
      await assertAccessible(tab, what('a page that does not exist'))
      await tab.close()
    }
  }
})

test(`the first load is at most ${FIRST_LOAD_GZIP_BYTES_MAX / 1000} kB of compressed script`, async () => {
  const dist = join(CONSOLE_FOLDER, 'dist')
  const tab = await testConsole.open('team')
  const loaded = new Set<string>()
  tab.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (pathname.endsWith('.js')) loaded.add(pathname)
  })
  await tab.goto(`${testConsole.url}/${organizationId}/sandbox/overview`)
  await settle(tab)
  await tab.close()
  assert.ok(
    [...loaded].some((path) => path.includes('overview-page')),
    'with the script of the page itself',
  )
  const bytes = [...loaded].reduce((sum, path) => sum + gzipSync(readFileSync(join(dist, path))).length, 0)
  assert.ok(bytes <= FIRST_LOAD_GZIP_BYTES_MAX, `${bytes} bytes`)
  assert.ok(loaded.size < readdirSync(join(dist, 'assets')).filter((file) => file.endsWith('.js')).length)
})
