import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startServiceProcess } from './service-process.ts'
import { createTestStorage } from './test-storage.ts'

const ROOT = join(import.meta.dirname, '../..')
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')

const place = await createTestStorage()
const service = await startServiceProcess(place.env)
after(async () => {
  service.child.kill('SIGTERM')
  await service.exited
  await place.remove()
})

test('the calls of the README work as they are printed', () => {
  const section = readme.slice(readme.indexOf('## First calls'), readme.indexOf('## Operate it'))
  const lines = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]).join('\n')
  const script = lines
    .replace('data/first-run.txt', join(place.dataDir, 'first-run.txt'))
    .replace(':4010', `:${service.ports.sandbox}`)
    // curl fails on an error answer, so that the script does too.
    .replaceAll('curl -s', 'curl -s --fail-with-body -w "\\n"')
    .replace('npm run cli --', `${process.execPath} server/src/cli/main.ts`)
  const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...place.env },
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
    assert.ok(
      section.includes(JSON.stringify(shown).slice(1, -1)),
      `the answer that is shown has ${JSON.stringify(shown)}`,
    )
})

test('every setting and every command of the README exists, and every link leads somewhere', () => {
  const config = readFileSync(join(ROOT, 'server/src/config.ts'), 'utf8')
  for (const [, name] of readme.matchAll(/`([A-Z]+_[A-Z_]+)`/g)) assert.ok(config.includes(name!), name)
  const scripts = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts
  for (const [, name] of readme.matchAll(/npm run ([\w:]+)/g)) assert.ok(scripts[name!], name)
  for (const [, path] of readme.matchAll(/\]\(([^)#:]+)\)/g))
    assert.ok(spawnSync('ls', [path!], { cwd: ROOT }).status === 0, path)
})
