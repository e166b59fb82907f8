/** A restore to a point in time, with pgBackRest as docs/high-availability.md sets it up: what the log says, and how it goes on. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { serverUser, startPostgres, type ThrowawayPostgres } from '../../scripts/throwaway-postgres.ts'
import { firstRunKey, runCli, runCliForJson, startServiceProcess } from '../tests/service-process.ts'
import { onPostgres } from '../tests/test-storage.ts'
import { filledIn } from './cluster/cluster-files.ts'
import { reportFigures, trials, until } from './proof-run.ts'
import { askReplay, decide, type Running, sealedReplay, verifyLogs } from './sealed-decisions.ts'

const PGBACKREST = '/usr/bin/pgbackrest'
const skip = !onPostgres ? 'needs PostgreSQL' : !existsSync(PGBACKREST) && 'needs pgbackrest'
const DECISIONS = trials(10, 2)

async function onServer<T>({ url }: ThrowawayPostgres, sql: string, read: (row: Record<string, string>) => T) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return read((await client.query(sql)).rows[0])
  } finally {
    await client.end()
  }
}

/** A server that archives to a repository of pgBackRest, with one full backup. */
async function startArchiving(folder: string) {
  const server = await startPostgres({ fsync: false })
  const { port } = new URL(server.url)
  const user = serverUser()
  const [data, sockets] = await onServer(
    server,
    "SELECT current_setting('data_directory') AS data, current_setting('unix_socket_directories') AS sockets",
    ({ data, sockets }) => [data!, sockets!] as const,
  )
  const config = join(folder, 'pgbackrest.conf')
  const [BACKUPS, BACKUP_STATE] = [join(folder, 'backups'), join(folder, 'state')]
  writeFileSync(
    config,
    filledIn('pgbackrest.conf', {
      BACKUPS,
      BACKUP_STATE,
      BACKUP_PASSWORD: 'not-a-secret',
      POSTGRES_DATA: data,
      PATRONI_STATE: sockets,
    }),
  )
  chmodSync(folder, 0o755)
  for (const path of [BACKUPS, BACKUP_STATE]) {
    mkdirSync(path)
    if (user) chownSync(path, user.uid, user.gid)
  }
  const backrest = (command: string, ...options: string[]) =>
    execFileSync(
      PGBACKREST,
      [`--config=${config}`, '--stanza=verdigraph', '--log-level-console=warn', ...options, command],
      { ...user, cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
    )
  const stop = async () => {
    process.kill(server.pid, 'SIGINT')
    await until(() => !isRunning(server.pid), 'the server has stopped')
  }
  await onServer(server, "ALTER SYSTEM SET archive_mode = 'on'", () => {})
  const archive = `${PGBACKREST} --config=${config} --stanza=verdigraph archive-push %p`
  await onServer(server, `ALTER SYSTEM SET archive_command = '${archive}'`, () => {})
  await stop()
  await server.restart()
  backrest('stanza-create', `--pg1-port=${port}`)
  backrest('backup', `--pg1-port=${port}`, '--type=full')
  return {
    server,
    async restoreTo(time: string) {
      await onServer(server, 'SELECT pg_switch_wal()', () => {})
      await stop()
      backrest('restore', '--delta', '--type=time', `--target=${time}`, '--target-action=promote')
      await server.restart()
      const isWritable = () =>
        onServer(server, 'SELECT pg_is_in_recovery()::text AS waits', ({ waits }) => waits === 'false')
      await until(isWritable, 'the server has left recovery')
    },
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('after a restore to a point in time, the log names the loss, and goes on with one command', {
  skip,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-point-in-time-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { server, restoreTo } = await startArchiving(folder)
  t.after(() => server.stop())
  const env = { DATA_DIR: join(folder, 'data'), DATABASE_URL: server.url }
  let service = await startServiceProcess(env)
  t.after(() => service.stop())
  const running = (decisions: string[] = []): Running => ({ service, env, key: firstRunKey(env.DATA_DIR), decisions })

  const kept = running()
  await decide(kept, DECISIONS, 'before')
  const { leaves } = verifyLogs(env)[0]!
  const time = await onServer(server, 'SELECT clock_timestamp()::text AS now', ({ now }) => now!)
  const lost = running()
  await decide(lost, DECISIONS, 'after')
  await service.stop()
  await restoreTo(time)

  service = await startServiceProcess(env)
  const warned = `sandbox: the database lost entries after head ${leaves}: run audit verify`
  const readyz = async () => (await fetch(`http://127.0.0.1:${service.ports.sandbox}/readyz`)).json()
  await until(
    async () => JSON.stringify(await readyz()) === JSON.stringify({ status: 'ready', warnings: [warned] }),
    warned,
  )
  const verified = runCli(env, 'audit', 'verify')
  assert.equal(verified.status, 1)
  assert.match(verified.stdout, new RegExp(`LOST {6}sandbox .*\n +The database lost entries after head ${leaves}: `))
  assert.doesNotMatch(verified.stdout, /TAMPERED/)

  const accepted = runCliForJson(env, 'audit', 'accept-restore', '--reason', `restored to ${time}`)
  assert.deepEqual([accepted[0].environment, accepted[0].tree_size], ['sandbox', leaves])
  for (const decision of kept.decisions) assert.equal((await sealedReplay(running(), decision)).matches, true, decision)
  for (const decision of lost.decisions) assert.equal((await askReplay(running(), decision)).status, 404, decision)
  await decide(running(), 1, 'since')
  assert.deepEqual(
    verifyLogs(env).map(({ intact }) => intact),
    [true, true, true],
  )
  await until(async () => JSON.stringify(await readyz()) === JSON.stringify({ status: 'ready' }), 'nothing is behind')
  reportFigures(
    t,
    `pgBackRest, restored to a point in time: ${leaves} entries kept, ${accepted[0].lost_tree_size - leaves} lost and accepted, ${DECISIONS} decisions replayed`,
  )
})
