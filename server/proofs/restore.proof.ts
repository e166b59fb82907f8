/** Backups are restored as docs/operating.md says: heads are equal, decisions replay, and an old backup is noticed. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { binFolder } from '../../scripts/throwaway-postgres.ts'
import { firstRunKey, postJson, runCli, runCliForJson, startServiceProcess } from '../tests/service-process.ts'
import { createEmptyTestStorage, onPostgres, type TestStorage } from '../tests/test-storage.ts'
import { reportFigures, trials } from './proof-run.ts'
import { decide, type Running, sealedReplay, verifyLogs } from './sealed-decisions.ts'

const DECISIONS = trials(20, 3)

const headsOf = (env: Record<string, string>) =>
  verifyLogs(env).map(({ environment, leaves, root_hash }) => ({
    environment,
    leaves,
    root_hash,
  }))

async function start(storage: TestStorage): Promise<Running> {
  const service = await startServiceProcess(storage.env)
  return { service, env: storage.env, key: firstRunKey(storage.dataDir), decisions: [] }
}

/** A backup, and the settings of a fresh machine on which it was restored. */
type Backup = {
  restore(): Promise<Record<string, string>>
  restoreInto(env: Record<string, string>): Promise<Record<string, string>>
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-restore-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Dumps a PostgreSQL database while the service runs. */
function dumpPostgres(env: Record<string, string>): Backup {
  const file = join(newFolder(), 'backup.dump')
  execFileSync(join(binFolder(), 'pg_dump'), ['-Fc', '-f', file, env.DATABASE_URL!])
  const restoreTo = async (dataDir: string) => {
    const url = new URL(env.DATABASE_URL!)
    const name = `${url.pathname.slice(1)}_restored_${process.hrtime.bigint()}`
    const client = new pg.Client({ connectionString: url.href })
    await client.connect()
    await client.query(`CREATE DATABASE ${name}`)
    await client.end()
    url.pathname = `/${name}`
    execFileSync(join(binFolder(), 'pg_restore'), ['-d', url.href, file])
    return { DATA_DIR: dataDir, DATABASE_URL: url.href }
  }
  return {
    async restore() {
      const dataDir = newFolder()
      for (const name of ['master.key', 'erasures-sandbox.jsonl', 'erasures-production.jsonl'])
        copyFileSync(join(env.DATA_DIR!, name), join(dataDir, name))
      return restoreTo(dataDir)
    },
    restoreInto: ({ DATA_DIR }) => restoreTo(DATA_DIR!),
  }
}

/** Copies the data folder of a stopped service with the embedded database. */
function copyFolder(env: Record<string, string>): Backup {
  const copy = newFolder()
  cpSync(env.DATA_DIR!, copy, { recursive: true })
  return {
    async restore() {
      const dataDir = newFolder()
      cpSync(copy, dataDir, { recursive: true })
      return { DATA_DIR: dataDir }
    },
    async restoreInto({ DATA_DIR }) {
      rmSync(join(DATA_DIR!, 'database'), { recursive: true })
      cpSync(join(copy, 'database'), join(DATA_DIR!, 'database'), { recursive: true })
      return { DATA_DIR: DATA_DIR! }
    },
  }
}

test('a restored backup has equal heads and intact logs, and its decisions replay; an old one is noticed until it is accepted', async (t) => {
  const storage = await createEmptyTestStorage()
  after(() => storage.remove())
  let running = await start(storage)
  after(() => running.service.stop())
  await decide(running, DECISIONS, 'before')
  const dumped = onPostgres ? dumpPostgres(running.env) : undefined
  const heads = headsOf(running.env)
  await running.service.stop()
  const backup = dumped ?? copyFolder(running.env)

  // On a fresh machine: the database, the master key and the known erasures are all that is needed.
  const elsewhere = await backup.restore()
  assert.deepEqual(headsOf(elsewhere), heads)
  const restored = { ...running, service: await startServiceProcess(elsewhere), env: elsewhere }
  for (const decision of running.decisions)
    assert.equal((await sealedReplay(restored, decision)).matches, true, decision)
  await restored.service.stop()

  // The original goes on, and is then set back to the backup.
  running = { ...running, service: await startServiceProcess(running.env), decisions: [...running.decisions] }
  await decide(running, DECISIONS, 'after the backup')
  await running.service.stop()
  const env = await backup.restoreInto(running.env)
  const refused = runCli(env, 'audit', 'verify')
  assert.equal(refused.status, 1)
  assert.match(
    refused.stdout,
    /TAMPERED {2}sandbox .*\n.*this node signed a head of \d+ leaves at .*an older backup was restored/,
  )
  running = { ...running, service: await startServiceProcess(env), env }
  const { status } = await postJson(
    { port: running.service.ports.sandbox, path: '/v1/entities' },
    { key: running.key, body: { external_id: 'on the old backup' } },
  )
  assert.equal(status, 201, 'the API works meanwhile')
  await running.service.untilOutput('nothing was sealed')

  const accepted = runCliForJson(env, 'audit', 'accept-restore', '--reason', 'the proof set it back')
  assert.equal(accepted[0].environment, 'sandbox')
  const lost = accepted[0].lost_tree_size - accepted[0].tree_size
  assert.ok(lost > 0)
  await decide(running, 1, 'after the restore')
  assert.deepEqual(
    verifyLogs(env).map(({ intact }) => intact),
    [true, true, true],
  )
  reportFigures(
    t,
    `${onPostgres ? 'pg_dump and pg_restore' : 'a copy of the data folder'}: ${heads[0]!.leaves} entries with equal heads, ${DECISIONS} decisions replayed; an older backup was noticed, ${lost} lost entries accepted`,
  )
})
