import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { commands } from '../src/cli/commands.ts'
import { VERSION } from '../src/version.ts'
import { call, callForJson } from './command-line.ts'
import { runCli, startServiceProcess, untilCachesExpire } from './service-process.ts'
import { createTestStorage, onPostgres } from './test-storage.ts'

const testStorage = await createTestStorage()
const service = await startServiceProcess(testStorage.env)
after(async () => {
  await service.stop()
  await testStorage.remove()
})

const env = {
  ...testStorage.env,
  CONSOLE_PORT: String(service.ports.console),
  SANDBOX_PORT: String(service.ports.sandbox),
  PRODUCTION_PORT: String(service.ports.production),
}
const cli = (...args: string[]) => call(env, ...args)
const json = (...args: string[]) => callForJson(env, ...args)

const getUsage = (environment: 'sandbox' | 'production', key: string) =>
  fetch(`http://127.0.0.1:${service.ports[environment]}/v1/usage`, { headers: { Authorization: `Bearer ${key}` } })

test('organizations and keys are created, used, listed and revoked while the server runs', async () => {
  const organization = await json('orgs', 'create', 'Northwind')
  assert.ok((await json('orgs', 'list')).some(({ id }: { id: string }) => id === organization.id))

  const created = await json(
    'keys',
    'create',
    '--org',
    'Northwind',
    '--scopes',
    'usage:read',
    '--name',
    'reader',
    '--expires-in-days',
    '30',
  )
  assert.equal((await getUsage('sandbox', created.key)).status, 200)

  const [listed] = await json('keys', 'list', '--org', organization.id)
  assert.deepEqual([listed.organization_id, listed.org_id], [organization.id, undefined])
  assert.deepEqual(
    [listed.id, listed.name, listed.scopes, listed.last_four],
    [created.id, 'reader', 'usage:read', created.key.slice(-4)],
  )
  assert.equal(JSON.stringify(listed).includes(created.key), false)

  assert.deepEqual(await json('keys', 'revoke', created.id), { id: created.id, revoked: true })
  await untilCachesExpire()
  assert.equal((await getUsage('sandbox', created.key)).status, 401)
  assert.match((await cli('keys', 'revoke', created.id)).stderr, /is revoked already\.$/m)
})

test('a production key works on production only, and the sandbox answers with the right base URL', async () => {
  const { key, base_url } = await json('keys', 'create', '--org', 'Northwind', '--environment', 'production')
  assert.equal((await getUsage('production', key)).status, 200)
  const wrong = await getUsage('sandbox', key)
  assert.equal(wrong.status, 401)
  assert.ok(((await wrong.json()) as { error: { message: string } }).error.message.includes(base_url))
})

test('every command has --help', async () => {
  const overview = (await cli('--help')).stdout
  const names = [...overview.matchAll(/^ {2}(\S+(?: \S+)?) {2}/gm)].map((match) => match[1]!)
  assert.deepEqual(
    names,
    commands.map(({ name }) => name),
  )
  for (const name of names) {
    const help = await cli(...name.split(' '), '--help')
    assert.equal(help.status, 0)
    assert.match(help.stdout, new RegExp(`^Usage: verdigraph ${name}`, 'm'))
  }
})

test('a group of commands has help of its own, and a wrong command of it lists the right ones', async () => {
  const groups = new Set(
    commands.map(({ name }) => name.split(' ')).flatMap(([group, ...rest]) => (rest.length ? [group!] : [])),
  )
  assert.ok(groups.size > 5)
  for (const group of groups) {
    const names = commands.map(({ name }) => name).filter((name) => name.startsWith(`${group} `))
    for (const words of [[], ['--help'], ['-h'], ['help']]) {
      const help = await cli(group, ...words)
      assert.deepEqual([help.status, help.stderr], [0, ''])
      assert.deepEqual(
        help.stdout.match(/^ {2}\S+ \S+/gm)?.map((line) => line.trim()),
        names,
      )
    }
    const wrong = await cli(group, 'explode')
    assert.equal(wrong.status, 2)
    assert.deepEqual(
      wrong.stderr.match(/^ {2}\S+ \S+/gm)?.map((line) => line.trim()),
      names,
    )
  }
})

test('--version prints the release, alone and after every command, and every help names it', async () => {
  assert.match(VERSION, /^\d+\.\d+\.\d+$/)
  for (const words of [[], ...commands.map(({ name }) => name.split(' '))]) {
    const version = await cli(...words, '--version')
    assert.deepEqual([version.status, version.stdout, version.stderr], [0, `${VERSION}\n`, ''], words.join(' '))
    const { stdout: help } = await cli(...words, '--help')
    assert.ok(help.endsWith(`\n\nVerdigraph ${VERSION}\n`), words.join(' '))
    if (words.length > 0) assert.match(help, /^ {2}--version +print the release of Verdigraph$/m)
  }
})

test('a wrong command line exits with 2, a failed command with 1, and either prints what is wrong', async () => {
  for (const [args, status, line] of [
    [['keys', 'explode'], 2, /there is no command "keys explode"/],
    [['orgs', 'create'], 2, /<name> is missing/],
    [['orgs', 'create', 'NORTHWIND'], 1, /There is an organization Northwind already, with the id org_/],
    [
      ['keys', 'list'],
      1,
      /There are several organizations: .*"First organization".*"Northwind"\. Say which with --org <name>\./,
    ],
    [['orgs', 'list', 'extra'], 2, /unexpected argument "extra"/],
    [['keys', 'create', '--colour', 'red'], 2, /unknown option '--colour'/],
    [['keys', 'create', '--org', 'Unknown'], 1, /There is no organization "Unknown"\. Run orgs list to see them\./],
    [['keys', 'create', '--org', 'Northwind', '--scopes', 'everything'], 1, /"everything" is not a scope/],
    [['keys', 'create', '--org', 'Northwind', '--environment', 'moon'], 1, /must be sandbox or production/],
    [['keys', 'revoke', 'key_x'], 1, /There is no key key_x in sandbox\. Run keys list to see the keys\./],
    [['audit', 'verify', '--head', 'x'], 1, /--head needs --org and --environment/],
  ] as const) {
    const result = await cli(...args)
    assert.deepEqual([result.status, line.test(result.stderr)], [status, true], `${args.join(' ')}: ${result.stderr}`)
  }
})

test('the process prints results and problems to their streams and ends with the exit code', () => {
  const listed = runCli(env, 'orgs', 'list')
  assert.deepEqual([listed.status, listed.stdout.includes('org_'), listed.stderr], [0, true, ''])
  const refused = runCli(env, 'orgs', 'list', 'extra')
  assert.deepEqual([refused.status, refused.stdout, /unexpected argument/.test(refused.stderr)], [2, '', true])
})

test('a malformed message on the command socket gets an error, and the server goes on', {
  skip: onPostgres && 'the embedded database only',
}, async () => {
  const socketPath = join(testStorage.dataDir, 'cli.sock')
  const send = (body: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(socketPath).on('error', reject)
      text(socket).then(resolve, reject)
      socket.end(body)
    })
  assert.match(await send('junk'), /problem/)
  assert.match(await send('{"command":"explode","input":{}}'), /does not know the command explode/)
  assert.ok((await json('orgs', 'list')).length > 0)
})

test('only its owner can open the folder of the embedded database', {
  skip: onPostgres && 'the embedded database only',
}, async () => {
  assert.equal(statSync(join(testStorage.dataDir, 'database')).mode & 0o777, 0o700)
})

test('migrate, doctor, audit verify and audit public-key work while the server runs', async () => {
  assert.deepEqual(await json('migrate'), { applied: [] })
  assert.ok((await json('doctor')).every(({ ok }: { ok: boolean }) => ok))
  assert.ok((await json('audit', 'verify')).every(({ intact }: { intact: boolean }) => intact))
  assert.match((await json('audit', 'public-key'))[0].public_key, /BEGIN PUBLIC KEY/)
})
