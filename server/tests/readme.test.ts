import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startServiceProcess } from './service-process.ts'
import { createTestStorage } from './test-storage.ts'

const ROOT = join(import.meta.dirname, '../..')
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')

const testStorage = await createTestStorage()
const service = await startServiceProcess(testStorage.env)
after(async () => {
  await service.stop()
  await testStorage.remove()
})

test('the commands of the section "First calls" succeed as printed, with the answers shown', () => {
  const section = readme.slice(readme.indexOf('## First calls'), readme.indexOf('## Operate it'))
  const lines = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]).join('\n')
  // A reader who has created a second organization before still gets these answers.
  const created = runCli('orgs', 'create', 'Northwind')
  assert.equal(created.status, 0, created.stderr)
  const script = lines
    .replace('data/first-run.txt', join(testStorage.dataDir, 'first-run.txt'))
    .replace(':4010', `:${service.ports.sandbox}`)
    // Otherwise curl exits with 0 on an error status.
    .replaceAll('curl -s', 'curl -s --fail-with-body -w "\\n"')
    .replace('npm run cli --', `${process.execPath} server/src/cli/main.ts`)
  const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...testStorage.env },
  })
  assert.equal(status, 0, stdout + stderr)
  const answers = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    answers.map(({ object }) => object),
    [
      'entity',
      'identity_link',
      'consent',
      'transaction_batch',
      'underwriting_decision',
      'decision_replay',
      'review',
      'outcome',
      'list',
    ],
  )
  assert.match(stdout, /^intact {4}sandbox/m)
  const { verdict, risk_tier, reason_codes, policy_version } = answers[4]
  for (const shown of [{ verdict, risk_tier }, reason_codes[0], { policy_version }])
    assert.ok(section.includes(JSON.stringify(shown).slice(1, -1)), `the README shows ${JSON.stringify(shown)}`)
})

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
