/** What the guides name exists: links, commands with their options, messages and alarms. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { anchor } from '../../scripts/reference/markdown.ts'
import { globalOptions } from '../src/cli/command.ts'
import { commands } from '../src/cli/commands.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const guides = globSync(['*.md', 'docs/*.md', 'docs/guides/*.md', 'docs/decisions/*.md'], { cwd: ROOT })
const sources = globSync('server/src/**/*.ts', { cwd: ROOT }).map(read).join('\n')
const runbook = read('docs/runbook.md')

/** Names in the runbook that are PostgreSQL's or prom-client's. */
const NAMES_OF_OTHERS = /^(pg_stat_activity|min_wal_size|nodejs_\w+|process_\w+)$/

test('every link of a guide leads to a file, and to a heading of it', () => {
  for (const guide of guides) {
    for (const [, target = ''] of read(guide).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue
      const [path = '', heading] = target.split('#')
      const file = path === '' ? guide : join(dirname(guide), path)
      assert.ok(existsSync(join(ROOT, file)), `${guide}: ${target}`)
      if (heading === undefined) continue
      const headings = [...read(file).matchAll(/^#+ (.*)$/gm)].map((match) => anchor(match[1]!))
      assert.ok(headings.includes(heading), `${guide}: ${target}`)
    }
  }
})

test('every command that a guide names exists and has the options shown', () => {
  const groups = new Set(commands.map(({ name }) => name.split(' ', 1)[0]!))
  for (const guide of guides) {
    const text = read(guide)
    const inline = [...text.matchAll(/`([a-z]+ [a-z][a-z|-]+[^`]*)`/g)].map(([, call]) => call!)
    const named = inline.filter((call) => groups.has(call.split(' ', 1)[0]!))
    const run = [...text.matchAll(/npm run cli -- ([a-z][^\n`#]*)/g)].map(([, call]) => call!)
    for (const call of [...named, ...run]) assertIsCommand(call, guide)
  }
})

function assertIsCommand(call: string, guide: string): void {
  const command = commands.find(({ name }) => call === name || call.startsWith(`${name} `))
  if (!command && call.split(' ')[1]?.includes('|')) {
    const [group, alternatives = ''] = call.split(' ')
    for (const alternative of alternatives.split('|')) assertIsCommand(`${group} ${alternative}`, guide)
    return
  }
  assert.ok(command, `${guide}: ${call}`)
  for (const [, option = ''] of call.matchAll(/--([a-z-]+)/g))
    assert.ok({ ...globalOptions, ...command.options }[option], `${guide}: ${call} has no option --${option}`)
}

test('every message, alarm and status that the runbook quotes is one of the service', () => {
  const prose = runbook.replaceAll(/`[^`]*`/g, '').replaceAll(/\s+/g, ' ')
  const messages = [...prose.matchAll(/"([^"…]+)"/g)].map(([, message]) => message!)
  assert.ok(messages.length > 15, `${messages.length} messages`)
  for (const message of messages) assert.ok(sources.includes(message), message)
  const codes = [...runbook.matchAll(/`([a-z]+_[a-z_]+)`/g)].map(([, code]) => code!)
  for (const code of codes.filter((name) => !NAMES_OF_OTHERS.test(name))) assert.ok(sources.includes(code), code)
})

test('the runbook names every alarm that the service logs', () => {
  const alarms = [...sources.matchAll(/alarm: '(\w+)'/g)].map(([, alarm]) => alarm!)
  assert.ok(alarms.length > 0)
  for (const alarm of alarms) assert.ok(runbook.includes(`"alarm":"${alarm}"`), alarm)
})
