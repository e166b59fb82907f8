/** `npm run screenshots`: pictures of the console with the demo's data. Arguments: a folder, and pages; `--all` takes all. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import type { BrowserContext, Page } from 'playwright-core'
import { issueFirstLink } from '../../server/src/admin/first-link.ts'
import { inviteOperator } from '../../server/src/admin/invitations.ts'
import { readConfig } from '../../server/src/config.ts'
import { startService } from '../../server/src/service/start-service.ts'
import { byService } from '../../server/tests/acts.ts'
import { sandboxPolicySource } from '../../server/tests/sandbox-policy.ts'
import { freePorts } from '../../server/tests/service-process.ts'
import { acceptFirstLink, buildIfChanged, launch, newContext, SIZES, settle, THEMES } from './browser.ts'

const ROOT = join(import.meta.dirname, '../..')
const DOCS_FOLDER = join(ROOT, 'docs/images/console')
/** Pages within the sandbox, and those that the documents show. */
const PAGES = [
  'overview',
  'playground',
  'decisions',
  'review-queue',
  'entities',
  'policies',
  'api-keys',
  'webhooks',
  'deliveries',
  'team',
  'usage',
  'live-gate',
  'audit-log',
]
const PAGES_OF_DOCS = ['overview', 'review-queue', 'webhooks', 'audit-log']

const CUTOFF = 'cutoff: 550'
const NEW_CUTOFF = 'cutoff: 551'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean' }, size: { type: 'string', default: '0.3' } },
})
const [folder = DOCS_FOLDER, ...wanted] = positionals
const isForDocs = resolve(folder) === DOCS_FOLDER && !values.all
const pages = wanted.length > 0 ? wanted : isForDocs ? PAGES_OF_DOCS : PAGES

const dataDir = mkdtempSync(join(tmpdir(), 'verdigraph-screenshots-'))
const ports = await freePorts()
const env = {
  DATA_DIR: dataDir,
  CONSOLE_PORT: String(ports.console),
  SANDBOX_PORT: String(ports.sandbox),
  PRODUCTION_PORT: String(ports.production),
}
try {
  await buildIfChanged()
  const demo = spawnSync(process.execPath, ['scripts/demo/main.ts', '--size', values.size], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  })
  assert.equal(demo.status, 0, demo.stderr)
  await takeAll()
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}

async function takeAll(): Promise<void> {
  const service = await startService(readConfig(env), { logger: pino({ level: 'silent' }) })
  const url = service.urls.console!
  const browser = await launch()
  const problems: string[] = []
  try {
    const owner = await newContext(browser, { url, problems })
    const signedOut = await newContext(browser, { url, problems })
    const first = await issueFirstLink(service.installation)
    if (!isForDocs) await take(signedOut, 'welcome', first.link)
    const organizationId = await acceptFirstLink(owner, first.link)
    const pageOf = (page: string, environment = 'sandbox') => `${url}/${organizationId}/${environment}/${page}`
    for (const page of pages) await take(owner, page, pageOf(page))
    if (isForDocs) {
      await takeCase(owner, pageOf)
      await takeDecision(owner, pageOf)
      await takePolicy(owner, pageOf)
    }
    if (isForDocs || wanted.length > 0) return
    await takeStates(owner, pageOf)
    await take(owner, 'account', `${url}/account`)
    await take(signedOut, 'sign-in', `${url}/sign-in`)
    const teammate = { name: 'Ada Quist', email: 'ada@fjordlend.example', role: 'reviewer' } as const
    const invitation = await inviteOperator(service.installation, byService(organizationId), teammate)
    await take(signedOut, 'invitation', url + /\/invitation#\S+/.exec(invitation.link)![0])
  } finally {
    await browser.close()
    await service.close()
  }
  assert.deepEqual(problems, [])
}

/** What pages look like with something open, with a secret shown, and in an environment without data. */
async function takeStates(owner: BrowserContext, pageOf: (page: string, environment?: string) => string) {
  const firstEndpoint = (tab: Page) => tab.locator('main a[href*="/webhooks/whe_"]').first()
  await take(owner, 'webhook-endpoint', pageOf('webhooks'), (tab) => firstEndpoint(tab).click())
  await take(owner, 'rotate-secret', pageOf('webhooks'), async (tab) => {
    await firstEndpoint(tab).click()
    await tab.getByRole('button', { name: 'Rotate secret' }).click()
  })
  await take(owner, 'new-key', pageOf('api-keys'), (tab) => tab.getByRole('button', { name: 'Create key' }).click())
  await take(owner, 'key-reveal', pageOf('api-keys'), async (tab) => {
    await tab.getByRole('button', { name: 'Create key' }).click()
    await tab.getByLabel('Name', { exact: false }).first().fill('Checkout')
    await tab.getByRole('checkbox', { name: 'usage:read' }).check()
    await tab.getByRole('button', { name: 'Create and show key' }).click()
    await tab.locator('[data-secret]').waitFor()
  })
  await takeCase(owner, pageOf)
  await takeDecision(owner, pageOf)
  await takePolicy(owner, pageOf)
  await take(owner, 'entity', pageOf('entities'), async (tab) => {
    await tab.locator('main a[href*="/entities/ent_"]').first().click()
    await tab
      .getByRole('region', { name: 'Picture of the neighbourhood' })
      .or(tab.getByText('No link yet.'))
      .first()
      .waitFor()
  })
  await take(owner, 'overview-empty', pageOf('overview', 'production'))
  await take(owner, 'command-menu', pageOf('live-gate', 'production'), (tab) => tab.keyboard.press('Control+k'))
  await take(owner, 'live-gate-production', pageOf('live-gate', 'production'))
  await take(owner, 'audit-entry', pageOf('audit-log'), (tab) => tab.locator('main tbody a').first().click())
}

/** The oldest case of the queue, with the form that decides it. */
async function takeCase(owner: BrowserContext, pageOf: (page: string) => string) {
  await take(owner, 'case', pageOf('review-queue'), async (tab) => {
    await tab.keyboard.press('j')
    const drawer = tab.getByRole('complementary', { name: 'Case' })
    await drawer.getByRole('heading', { level: 2 }).waitFor()
    // The draft of the picture before.
    const discard = drawer.getByRole('button', { name: 'Discard' })
    if (await discard.isVisible()) await discard.click()
    await tab.keyboard.press('a')
    await drawer.getByLabel('Reason').fill('Known for years; the payslips of three months were seen.')
  })
}

/** A credit that got less than was asked for, and the same decision in the playground. */
async function takeDecision(owner: BrowserContext, pageOf: (page: string) => string) {
  const open = async (tab: Page) => {
    // What was asked, and another amount that could be lent.
    await tab
      .getByRole('row', { name: /€([\d,]+) €(?!\1 )/ })
      .first()
      .getByRole('link')
      .click()
    await tab.getByRole('region', { name: 'Verdict' }).waitFor()
  }
  const list = pageOf('decisions?verdict=approve_with_conditions')
  await take(owner, 'decision', list, open)
  await take(owner, isForDocs ? 'playground' : 'what-if', list, async (tab) => {
    await open(tab)
    await tab.getByRole('link', { name: 'Open in playground' }).click()
    await tab.getByRole('slider').first().waitFor()
  })
}

/** A version with a higher cutoff: while it is written, then its difference and its backtest once it is proposed. */
async function takePolicy(owner: BrowserContext, pageOf: (page: string) => string) {
  const editor = pageOf('policies/new?from=sandbox-policy-v1')
  const write = async (tab: Page) => {
    const text = sandboxPolicySource().replace('version: sandbox-policy-v1', 'version: sandbox-policy-v1-2')
    await tab.getByRole('textbox', { name: 'The text of the policy' }).click()
    await tab.keyboard.press('ControlOrMeta+a')
    await tab.evaluate((pasted) => navigator.clipboard.writeText(pasted), text.replace(CUTOFF, NEW_CUTOFF))
    await tab.keyboard.press('ControlOrMeta+v')
    await tab
      .getByText(/cutoff 550 → 551/i)
      .first()
      .waitFor()
    await tab.getByText('Checking …').waitFor({ state: 'hidden' })
    await tab.getByText(/decided again/).waitFor()
    await tab.keyboard.press('ControlOrMeta+Home')
  }
  await take(owner, 'policy-editor', editor, write)
  const tab = await owner.newPage()
  await tab.goto(editor)
  await write(tab)
  await tab.getByRole('button', { name: 'Propose', exact: true }).click()
  await tab.getByLabel('Why?').fill('Loss at the cutoff is above plan.')
  await tab.getByRole('button', { name: 'Propose', exact: true }).last().click()
  await tab.waitForURL('**/policies/sandbox-policy-v1-2')
  await tab.getByRole('tab', { name: 'Backtest' }).click()
  await tab.getByRole('button', { name: 'Run backtest' }).click()
  await tab.getByRole('heading', { name: 'Verdict migration' }).waitFor()
  await tab.close()
  for (const name of ['diff', 'backtest'])
    await take(owner, `policy-${name}`, pageOf(`policies/sandbox-policy-v1-2?tab=${name}`))
}

/** Takes a page in both themes and widths, after `prepare`; the documents show a desktop only. */
async function take(context: BrowserContext, name: string, path: string, prepare?: (tab: Page) => Promise<unknown>) {
  mkdirSync(folder, { recursive: true })
  for (const [size, viewport] of Object.entries(SIZES).slice(0, isForDocs ? 1 : undefined)) {
    for (const theme of THEMES) {
      const tab = await context.newPage()
      await tab.setViewportSize(viewport)
      await tab.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await tab.goto(path)
      await settle(tab)
      await prepare?.(tab)
      if (prepare) await settle(tab)
      const file = join(folder, `${[name, ...(isForDocs ? [] : [size]), theme].join('.')}.png`)
      await tab.screenshot({ path: file, fullPage: !isForDocs && !prepare })
      console.error(relative(ROOT, file))
      await tab.close()
    }
  }
}
