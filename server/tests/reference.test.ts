import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { anchor, table } from '../../scripts/reference/markdown.ts'
import { referencePages } from '../../scripts/reference/reference.ts'
import { ConfigError, readConfig, SETTINGS, type Setting } from '../src/config.ts'

const ROOT = join(import.meta.dirname, '../..')
const pages = Object.entries(referencePages())

test('the reference lists every setting, with its default', () => {
  const page = referencePages()['settings.md']!
  const rows = page.slice(page.indexOf('| setting |')).split('\n\n')[0]!.split('\n').slice(2)
  const listed = rows.flatMap((row) => {
    const [, names = '', defaults = ''] = row.split('|')
    return [...names.matchAll(/[A-Z_]+/g)].map(([name]) => ({ name, defaults }))
  })
  assert.deepEqual(listed.map(({ name }) => name).sort(), Object.keys(SETTINGS).sort())
  for (const { name, defaults } of listed) {
    const setting: Setting = SETTINGS[name as keyof typeof SETTINGS]
    if ('default' in setting) assert.ok(defaults.includes(setting.default), `${name} defaults to ${setting.default}`)
  }
})

test('settings fall back to their defaults, and the message on a refused URL does not repeat it', () => {
  assert.equal(readConfig({}).webhooksAllowLoopback, true)
  assert.equal(readConfig({ DATABASE_URL: 'postgres://u@h/d' }).webhooksAllowLoopback, false)
  assert.deepEqual(readConfig({ RATE_LIMIT_PER_SECOND: '7', HOST: '' }).rateLimit, { perSecond: 7, burst: 14 })
  assert.throws(
    () => readConfig({ DATABASE_URL: 'mysql://u:not-a-real-password@h' }),
    new ConfigError(
      'DATABASE_URL must be a URL that starts with postgres:// or postgresql://, with one host or several with commas between them',
    ),
  )
  assert.throws(
    () => readConfig({ SANDBOX_PORT: '65536' }),
    new ConfigError('SANDBOX_PORT must be a whole number from 0 to 65535, not "65536"'),
  )
})

test('a setting of days takes whole numbers only, and not fewer than correctness needs', () => {
  const refused =
    /^WEBHOOKS_KEEP_DAYS must be a whole number from 7 to 3650 \(the attempts to deliver one event can take 7 days\), not ".*"$/
  for (const wrong of ['0', '6', '-30', '3651', '7.5', '1e2', '0x1e', 'thirty', ' ', '30 days'])
    assert.throws(() => readConfig({ WEBHOOKS_KEEP_DAYS: wrong }), { name: 'ConfigError', message: refused }, wrong)
  assert.equal(readConfig({ WEBHOOKS_KEEP_DAYS: ' 7 ' }).keepDays.webhooks, 7)
})

test('a database URL may name several hosts, which share all else that it says', () => {
  const serversOf = (DATABASE_URL: string) => readConfig({ DATABASE_URL }).databaseUrls!.control
  assert.deepEqual(serversOf('postgres://u:p%40,@a:5433,b,[::1]:5434/db?sslmode=verify-full'), [
    'postgres://u:p%40,@a:5433/db?sslmode=verify-full',
    'postgres://u:p%40,@b/db?sslmode=verify-full',
    'postgres://u:p%40,@[::1]:5434/db?sslmode=verify-full',
  ])
  assert.deepEqual(serversOf(' postgres://h/d\n'), ['postgres://h/d'])
  for (const one of ['postgres://u@h:5432/d', 'postgresql://h', 'postgres:///d?host=/var/run/postgresql'])
    assert.deepEqual(serversOf(one), [one])
  for (const wrong of [
    'postgres://a,/d',
    'postgres://a,,b/d',
    'postgres://a:b,c/d',
    'postgres://u@,/d',
    'postgres://a,b/d?host=/tmp',
    'postgres://u:1,2#x@a/d',
  ])
    assert.throws(() => serversOf(wrong), ConfigError, wrong)
})

test('single sign-on is configured wholly or not at all, and over plain HTTP only on this machine', () => {
  const whole = {
    OIDC_ISSUER: 'https://id.example.com/tenant',
    OIDC_CLIENT_ID: 'verdigraph',
    OIDC_CLIENT_SECRET: 'not-a-real-secret',
    OIDC_ROLES: 'risk-admins=admin, cn=analysts=viewer',
  }
  assert.equal(readConfig({}).oidc, undefined)
  assert.deepEqual(readConfig(whole).oidc, {
    issuer: 'https://id.example.com/tenant',
    clientId: 'verdigraph',
    clientSecret: 'not-a-real-secret',
    groupsClaim: 'groups',
    roles: [
      { group: 'risk-admins', role: 'admin' },
      { group: 'cn=analysts', role: 'viewer' },
    ],
    organization: undefined,
  })
  for (const missing of ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES'])
    assert.throws(() => readConfig({ ...whole, [missing]: '' }), /set all of them or none/, missing)
  for (const roles of ['admins', 'admins=king', '=admin', 'a=admin,'])
    assert.throws(() => readConfig({ ...whole, OIDC_ROLES: roles }), /OIDC_ROLES must be a list such as/, roles)
  for (const issuer of ['http://127.0.0.1:9000', 'http://localhost:9000', 'http://[::1]:9000'])
    assert.equal(readConfig({ ...whole, OIDC_ISSUER: issuer }).oidc?.issuer, issuer)
  for (const issuer of ['http://id.example.com', 'http://127.0.0.1.example.com', 'ftp://id.example.com', 'id'])
    assert.throws(() => readConfig({ ...whole, OIDC_ISSUER: issuer }), /OIDC_ISSUER must be a URL/, issuer)
})

test('every row of a table of the reference has as many cells as its header', () => {
  const cellsOf = (line: string) => line.split(/(?<!\\)\|/).length
  assert.equal(cellsOf(table(['a', 'b'], [['`x || y`', 'two\nlines']]).split('\n')[2]!), 4)
  for (const [file, text] of pages) {
    for (const block of text.trimEnd().split('\n\n')) {
      if (!block.startsWith('|')) continue
      const widths = new Set(block.split('\n').map(cellsOf))
      assert.equal(widths.size, 1, `${file}: ${block.split('\n')[0]}`)
    }
  }
})

test('every link of the reference leads to a file or a heading', () => {
  for (const [file, text] of pages) {
    const headings = [...text.matchAll(/^#+ (.*)$/gm)].map((match) => anchor(match[1]!))
    for (const [, target = ''] of text.matchAll(/\]\(([^)]+)\)/g)) {
      if (target.startsWith('#')) assert.ok(headings.includes(target.slice(1)), `${file}: ${target}`)
      else assert.ok(existsSync(join(ROOT, 'docs/reference', target)), `${file}: ${target}`)
    }
  }
})
