/** A real service with the built page, and a real browser: what every journey runs in. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Locator, type Page, type Request } from 'playwright-core'
import {
  buildPage,
  CONSOLE_FOLDER,
  fingerprintOfDist,
  fingerprintOfSources,
} from '../../server/src/console/page-build.ts'
import { freePorts } from '../../server/tests/service-process.ts'
import { startTestService, type TestService } from '../../server/tests/test-service.ts'
import { insertTextAsTyped, launchFirefox } from './firefox.ts'

/** A desktop and a phone. */
export const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const
/** The two themes. */
export const THEMES = ['light', 'dark'] as const
/** The first owner, whom `openConsole` creates through the link of the first start. */
export const OWNER = { name: 'Ben Ode', email: 'ben@fjordlend.example', password: 'quiet harbour lantern 7' }

type Size = keyof typeof SIZES
type Theme = (typeof THEMES)[number]

/** A service with a browser that is signed in as its first owner. */
export interface TestConsole {
  api: TestService
  url: string
  organizationId: string
  /** Opens a page of the organization, such as `webhooks`, in a tab of the owner. */
  open(page: string, options?: TabOptions): Promise<Page>
  /** A tab that is not signed in. */
  openSignedOut(path: string, options?: TabOptions): Promise<Page>
  /** What went wrong in any tab: errors on the browser's console, refusals by the content security policy, other hosts. */
  problems: string[]
}

interface TabOptions {
  environment?: 'sandbox' | 'production'
  size?: Size
  theme?: Theme
}

/** Starts a service on a fresh installation, and a browser; both end with the test file. */
export async function openConsole(env: Record<string, string> = {}): Promise<TestConsole> {
  const api = await startConsoleService(env)
  const url = env.CONSOLE_BASE_URL ?? api.service.urls.console!
  const browser = await launch()
  after(() => closeBrowser(browser))
  const problems: string[] = []
  const owner = await newContext(browser, { url, problems })
  const link = /http\S+\/welcome#\S+/.exec(api.service.firstRunText ?? '')
  assert.ok(link, `the first start printed no link for the first owner:\n${api.service.firstRunText}`)
  const organizationId = await acceptFirstLink(owner, link[0])
  const openTab = async (context: BrowserContext, path: string, { size = 'desktop', theme = 'light' }: TabOptions) => {
    const tab = await context.newPage()
    await tab.setViewportSize(SIZES[size])
    await tab.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await tab.goto(url + path)
    return tab
  }
  return {
    api,
    url,
    organizationId,
    problems,
    open: async (page, options = {}) => {
      const tab = await openTab(owner, `/${organizationId}/${options.environment ?? 'sandbox'}/${page}`, options)
      await settle(tab)
      return tab
    },
    openSignedOut: async (path, options = {}) => openTab(await newContext(browser, { url, problems }), path, options),
  }
}

/** Starts a service on a fresh installation, with the built page and without an owner; it ends with the test file. */
export async function startConsoleService(env: Record<string, string> = {}): Promise<TestService> {
  await buildIfChanged()
  const ports = await freePorts()
  return startTestService({
    env: {
      CONSOLE_PORT: String(ports.console),
      SANDBOX_PORT: String(ports.sandbox),
      PRODUCTION_PORT: String(ports.production),
      ...env,
    },
  })
}

/** Waits until a page has its data: no skeleton is left, and no request has been under way for a moment. */
export async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  await untilQuiet(page)
  await page.locator('h1').first().waitFor()
  await page.waitForFunction(() => document.querySelector('.mantine-Skeleton-root, [aria-busy=true]') === null)
}

const QUIET_MS = 200

/** Waits for the requests of a page that navigated by itself, which its load state says nothing of. */
function untilQuiet(page: Page): Promise<void> {
  return new Promise((resolve) => {
    const underWay = new Set<Request>()
    let timer = setTimeout(finish, QUIET_MS)
    const began = (request: Request) => {
      clearTimeout(timer)
      underWay.add(request)
    }
    const ended = (request: Request) => {
      underWay.delete(request)
      clearTimeout(timer)
      if (underWay.size === 0) timer = setTimeout(finish, QUIET_MS)
    }
    function finish() {
      page.off('request', began).off('requestfinished', ended).off('requestfailed', ended)
      resolve()
    }
    page.on('request', began).on('requestfinished', ended).on('requestfailed', ended)
  })
}

/** Reads until it gets what is expected: a page shows a change some moments after its address has changed. */
export async function untilEqual<Value>(read: () => Promise<Value>, expected: Value): Promise<void> {
  const deadline = Date.now() + 15_000
  for (;;) {
    const value = await read()
    if (value === expected) return
    if (Date.now() > deadline) assert.equal(value, expected)
    await sleep(50)
  }
}

/** Waits until exactly so many elements are there. */
export const untilCount = (found: Locator, count: number) => untilEqual(() => found.count(), count)

/** Rules beyond WCAG. Those about landmarks are left out: menus and dialogs are outside of them by design. */
const GOOD_PRACTICE = ['empty-table-header', 'heading-order', 'page-has-heading-one', 'scope-attr-valid', 'tabindex']

/** Fails if axe finds a violation of WCAG 2.2 AA in what the page shows now; `what` names the state. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .options({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      rules: Object.fromEntries(GOOD_PRACTICE.map((rule) => [rule, { enabled: true }])),
    })
    .analyze()
  const found = violations.map(({ id, help, nodes }) => `${id}: ${help}\n    ${nodes.map(describe).join('\n    ')}`)
  assert.deepEqual(found, [], `${what} has ${found.length} accessibility violations:\n${found.join('\n')}`)
}

/** Changes the theme of an open page, and waits until the page has it: it follows the system some moments later. */
export async function changeTheme(tab: Page, theme: Theme): Promise<void> {
  await tab.emulateMedia({ colorScheme: theme })
  await untilEqual(() => tab.evaluate(() => document.documentElement.dataset.mantineColorScheme), theme)
}

/** Checks a page in both themes and at both widths, and that nothing sticks out at phone width. */
export async function assertAccessibleEverywhere(
  testConsole: TestConsole,
  page: string,
  {
    environment = 'sandbox',
    prepare,
  }: { environment?: 'sandbox' | 'production'; prepare?: (tab: Page) => Promise<void> } = {},
): Promise<void> {
  for (const size of Object.keys(SIZES) as Size[]) {
    for (const theme of THEMES) {
      const tab = await testConsole.open(page, { environment, size, theme })
      await prepare?.(tab)
      const what = `${page} (${environment}, ${size}, ${theme})`
      await assertAccessible(tab, what)
      const overflow = await tab.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      assert.ok(overflow <= 0, `${what} is ${overflow} px wider than the window`)
      await tab.close()
    }
  }
}

function describe({ target, failureSummary }: { target: unknown; failureSummary?: string | undefined }): string {
  return `${JSON.stringify(target)} ${failureSummary?.replaceAll('\n', ' ') ?? ''}`
}

/** Whether the journeys run in Firefox (`JOURNEY_BROWSER=firefox`) instead of Chromium. */
export const isFirefox = process.env.JOURNEY_BROWSER === 'firefox'

/** The browser of the machine: `CHROMIUM` or `FIREFOX` names one that is not in a usual place. */
export async function launch(): Promise<Browser> {
  if (isFirefox) return launchFirefox()
  const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  const executablePath = places.find((place) => place !== undefined && existsSync(place))
  if (!executablePath)
    throw new Error('No Chromium was found. Install it (apt-get install chromium), or name it in CHROMIUM.')
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  })
}

/** Ends a browser. Playwright sometimes misses that Firefox has ended, and then would wait for ever. */
export async function closeBrowser(browser: Browser): Promise<void> {
  await Promise.race([browser.close(), ...(isFirefox ? [sleep(10_000)] : [])])
}

/**
 * What browsers report although journeys cause it on purpose: Chromium every answer of 400 and above, Firefox a font whose
 * loading ended with its tab (the status is NS_BINDING_ABORTED).
 */
const CAUSED_BY_JOURNEYS = /^Failed to load resource|^downloadable font: download failed .*status=2152398850/

/** How long a journey waits for what it expects: a machine that others use as well has taken half a minute for a page. */
const PATIENCE_MS = 120_000

/** Creates a browser profile of its own, which reports what goes wrong in its tabs. */
export async function newContext(
  browser: Browser,
  { url, problems }: { url: string; problems: string[] },
): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin' })
  context.setDefaultTimeout(PATIENCE_MS)
  // Firefox knows no such permissions; its setting in firefox.ts allows both.
  if (isFirefox) await insertTextAsTyped(context)
  else await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })
  context.on('console', (message) => {
    if (message.type() === 'error' && !CAUSED_BY_JOURNEYS.test(message.text())) problems.push(message.text())
  })
  context.on('weberror', (error) => problems.push(String(error.error())))
  context.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
      problems.push(`request to ${request.url()}`)
  })
  return context
}

/** Builds the page if its sources have changed since the last build. */
export async function buildIfChanged(): Promise<void> {
  const [built, sources] = await Promise.all([fingerprintOfDist(CONSOLE_FOLDER), fingerprintOfSources(CONSOLE_FOLDER)])
  if (built !== sources) await buildPage(CONSOLE_FOLDER)
}

/** Becomes the first owner by the link that the first start printed, from the page's own origin; returns the organization. */
export async function acceptFirstLink(context: BrowserContext, link: string): Promise<string> {
  const { origin, hash } = new URL(link)
  const tab = await context.newPage()
  await tab.goto(`${origin}/sign-in`)
  const answer = await tab.evaluate(
    async (input) => {
      const response = await fetch('/api/open/welcome.accept', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(input),
      })
      return { status: response.status, body: await response.json() }
    },
    { token: hash.slice(1), ...OWNER },
  )
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  await tab.close()
  return answer.body.organization_id
}
