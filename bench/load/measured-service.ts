import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../../server/tests/service-process.ts'
import { type BenchDatabase, newDatabase } from './bench-database.ts'
import { undoable } from './undo.ts'

/** The database of a measured service. */
export type Storage = 'postgres' | 'embedded'

/** The service as users run it, in its own process, with a sandbox key of its first organization. */
export interface MeasuredService {
  port: number
  key: string
  env: Record<string, string>
  child: ChildProcess
  post<T>(path: string, body: unknown, idempotencyKey?: string): Promise<T>
  /** The same with the key of another organization. */
  withKey(key: string): Pick<MeasuredService, 'post'>
  /** Ends the process, so that another can open its data, until `resume` starts it again. */
  pause(): Promise<void>
  /** Starts it again, from source unless another entry is given. */
  resume(entry?: string): Promise<void>
  /** Starts one more process on the same database. */
  another(): Promise<StartedProcess>
  stop(): Promise<void>
  /** Ends it and keeps its folder for the next embedded service of this run, because creating a database takes seconds. */
  stopForNext(): Promise<void>
}

/** One process of the service. */
export interface StartedProcess {
  child: ChildProcess
  port: number
}

const ROOT = join(import.meta.dirname, '../..')
const START_WITHIN_MS = 60_000

/** The default settings, except for the rate limit, which must never be the bottleneck. */
const SETTINGS = { RATE_LIMIT_PER_SECOND: '1000000' }

let folderForNext: string | undefined

/** Starts a service on a new database; `stop` ends the processes and deletes the database. */
export async function startMeasuredService(
  storage: Storage,
  settings: Record<string, string> = {},
): Promise<MeasuredService> {
  const database = storage === 'postgres' ? await newDatabase() : undefined
  const dataDir = (storage === 'embedded' && takeFolder()) || mkdtempSync(join(tmpdir(), 'verdigraph-bench-'))
  const env = {
    DATA_DIR: dataDir,
    ...SETTINGS,
    ...(database && { DATABASE_URL: database.url }),
    ...settings,
  }
  const started: StartedProcess[] = []
  const stop = undoable(() => stopAll(started, database, dataDir))
  const start = async (entry?: string) => {
    const service = await startProcess(env, entry)
    started.push(service)
    return service
  }
  try {
    let current = await start()
    const key = firstKey(dataDir)
    return {
      get port() {
        return current.port
      },
      get child() {
        return current.child
      },
      key,
      env,
      post: (path, body, idempotencyKey) => post(current.port, { path, key, body, idempotencyKey }),
      withKey: (other) => ({
        post: (path, body, idempotencyKey) => post(current.port, { path, key: other, body, idempotencyKey }),
      }),
      pause: () => endProcess(current.child),
      async resume(entry) {
        current = await start(entry)
      },
      another: () => start(),
      stop,
      async stopForNext() {
        for (const { child } of started) await endProcess(child)
        folderForNext = dataDir
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts one process and waits until it is ready. Its log goes to a file, as under a service manager. */
export async function startProcess(env: Record<string, string>, entry = 'server/src/main.ts'): Promise<StartedProcess> {
  const ports = await freePorts()
  const log = join(env.DATA_DIR!, `${ports.sandbox}.log`)
  const out = openSync(log, 'w')
  const child = spawn(process.execPath, [entry], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      ...compileCache(),
      CONSOLE_PORT: String(ports.console),
      SANDBOX_PORT: String(ports.sandbox),
      PRODUCTION_PORT: String(ports.production),
      ...env,
    },
    stdio: ['ignore', out, out],
  })
  closeSync(out)
  const deadline = Date.now() + START_WITHIN_MS
  while (!readFileSync(log, 'utf8').includes('"msg":"ready"')) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`the service did not start:\n${readFileSync(log, 'utf8')}`)
    await sleep(5)
  }
  return { child, port: ports.sandbox }
}

/** Passes on the compile cache that `npm start` gives the service too. */
function compileCache(): Record<string, string> {
  const { NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
}

/** Sends SIGTERM to a process and waits for its exit. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

async function stopAll(
  started: readonly StartedProcess[],
  database: BenchDatabase | undefined,
  dataDir: string,
): Promise<void> {
  for (const { child } of started) await endProcess(child)
  rmSync(dataDir, { recursive: true, force: true })
  await database?.drop()
}

function takeFolder(): string | undefined {
  const folder = folderForNext
  folderForNext = undefined
  return folder
}

function firstKey(dataDir: string): string {
  const key = /sk_sandbox_\S+/.exec(readFileSync(join(dataDir, 'first-run.txt'), 'utf8'))?.[0]
  if (key === undefined) throw new Error('the first start wrote no sandbox key into first-run.txt')
  return key
}

async function post<T>(
  port: number,
  { path, key, body, idempotencyKey }: { path: string; key: string; body: unknown; idempotencyKey: string | undefined },
): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
    body: JSON.stringify(body),
  })
  if (!response.ok)
    throw new Error(`POST ${path} was answered with status ${response.status}: ${await response.text()}`)
  return (await response.json()) as T
}
