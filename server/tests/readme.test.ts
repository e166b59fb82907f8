import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startServiceProcess } from './service-process.ts'
import { createTestStorage } from './test-storage.ts'

const ROOT = join(import.meta.dirname, '../..')
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const guide = readFileSync(join(ROOT, 'docs/guides/first-calls.md'), 'utf8')

const testStorage = await createTestStorage()
const service = await startServiceProcess(testStorage.env)
after(async () => {
  await service.stop()
  await testStorage.remove()
})

test('the commands of "Ask for a decision" and of the guide to the first calls succeed as printed, with the answers shown', () => {
  // A reader who has created a second organization before still gets these answers.
  const created = runCli('orgs', 'create', 'Northwind')
  assert.equal(created.status, 0, created.stderr)

  const section = readme.slice(readme.indexOf('## Ask for a decision'), readme.indexOf('## Use it'))
  const first = answersTo(section)
  assert.deepEqual(objectsOf(first.answers), ['underwriting_decision'])
  assertShows(section, first.answers[0]!)

  const { answers, stdout } = answersTo(guide)
  assert.deepEqual(objectsOf(answers), [
    'entity',
    'identity_link',
    'consent',
    'transaction_batch',
    'underwriting_decision',
    'decision_replay',
    'review',
    'outcome',
    'list',
  ])
  assert.match(stdout, /^intact {4}sandbox/m)
  assertShows(guide, answers[4]!)
})

/** Runs the commands of a text in an empty folder, and reads the JSON that they print. */
function answersTo(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-readme-'))
  const lines = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]).join('\n')
  const script = lines
    .replace('data/first-run.txt', join(testStorage.dataDir, 'first-run.txt'))
    .replace(':4010', `:${service.ports.sandbox}`)
    // Otherwise curl exits with 0 on an error status.
    .replaceAll('curl -s', 'curl -s --fail-with-body -w "\\n"')
    .replace('npm run cli --', `${process.execPath} ${join(ROOT, 'server/src/cli/main.ts')}`)
  const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...testStorage.env },
  })
  rmSync(folder, { recursive: true })
  assert.equal(status, 0, stdout + stderr)
  const answers: Record<string, unknown>[] = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  return { answers, stdout }
}

const objectsOf = (answers: Record<string, unknown>[]) => answers.map(({ object }) => object)

/** What a text shows of a decision is what the service answers. */
function assertShows(text: string, decision: Record<string, unknown>): void {
  const [, checksum] = /"policy_checksum":"([0-9a-f]*)…"/.exec(text)!
  assert.ok(String(decision.policy_checksum).startsWith(checksum!), `the checksum is ${decision.policy_checksum}`)
  const [, confidence] = /"confidence":([\d.]+)/.exec(text) ?? []
  if (confidence !== undefined) assert.equal(Number(confidence), decision.confidence)
  const { verdict, risk_tier, policy_version } = decision
  const [reason] = decision.reason_codes as object[]
  for (const shown of [{ verdict }, reason!, { policy_version }, { risk_tier }])
    assert.ok(text.includes(JSON.stringify(shown).slice(1, -1)), `it shows ${JSON.stringify(shown)}`)
}

function runCli(...args: string[]) {
  const command = ['server/src/cli/main.ts', ...args]
  return spawnSync(process.execPath, command, {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...testStorage.env },
  })
}

test('every setting, npm script and file that the README names exists', () => {
  const config = readFileSync(join(ROOT, 'server/src/config.ts'), 'utf8')
  const named = (pattern: RegExp) => {
    const names = [...readme.matchAll(pattern)].map((match) => match[1]!)
    assert.ok(names.length > 0, `the README has no ${pattern}`)
    return names
  }
  for (const name of named(/`([A-Z]+_[A-Z_]+)`/g)) assert.ok(config.includes(name), name)
  const scripts = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts
  for (const name of named(/npm run ([\w:]+)/g)) assert.ok(scripts[name], name)
  for (const path of named(/\]\(([^)#:]+)\)/g)) assert.ok(existsSync(join(ROOT, path)), path)
})
