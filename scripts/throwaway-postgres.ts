/** A temporary PostgreSQL server for tests and benchmarks: it runs in a temporary folder, which `stop` deletes. */
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A running server. */
export interface ThrowawayPostgres {
  url: string
  pid: number
  /** Starts a standby that replicates it; `stop` of the standby ends only the standby. */
  startStandby(): Promise<ThrowawayPostgres>
  /** Starts the server again once the killed process has exited. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const START_WITHIN_MS = 60_000

/**
 * Starts a PostgreSQL server on a free loopback port, in a new folder of `parent`. `fsync: false` spares tests the wait for
 * the disk: what was committed then survives a killed server, and is lost only with the machine.
 */
export function startPostgres({ parent = tmpdir(), fsync = true } = {}): Promise<ThrowawayPostgres> {
  const initdb = ['-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C']
  return startServer({ parent, fsync, fill: (data) => ['initdb', '-D', data, ...initdb] })
}

/** Where a server runs, and the command that fills its data folder. */
interface ServerOptions {
  parent: string
  fsync: boolean
  fill: (data: string) => [command: string, ...args: string[]]
}

async function startServer({ parent, fsync, fill }: ServerOptions): Promise<ThrowawayPostgres> {
  const bin = binFolder()
  const user = serverUser()
  const { folder, data } = fillFolder({ parent, fill, user })
  const port = await freePort()

  let child = spawnServer()
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  await untilReady()

  function spawnServer() {
    const settings = [
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${folder}`,
      'max_connections=200',
      `fsync=${fsync ? 'on' : 'off'}`,
    ]
    return spawn(
      join(bin, 'postgres'),
      ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
      {
        ...user,
        cwd: folder,
        stdio: 'ignore',
      },
    )
  }

  /** A server refuses to start while a backend of its killed predecessor still holds the shared memory: start it again. */
  async function untilReady(): Promise<void> {
    const deadline = Date.now() + START_WITHIN_MS
    while (Date.now() < deadline) {
      if (hasExited()) child = spawnServer()
      if (acceptsConnections(bin, port)) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`PostgreSQL did not accept connections within ${START_WITHIN_MS / 1000} s`)
  }

  function hasExited(): boolean {
    return child.exitCode !== null || child.signalCode !== null
  }

  return {
    url,
    get pid() {
      return child.pid!
    },
    startStandby() {
      const copy = ['-d', url, '-R', '-X', 'stream', '-c', 'fast']
      return startServer({ parent, fsync, fill: (standby) => ['pg_basebackup', '-D', standby, ...copy] })
    },
    async restart() {
      if (!hasExited()) await new Promise((resolve) => child.once('exit', resolve))
      child = spawnServer()
      await untilReady()
    },
    async stop() {
      if (!hasExited()) {
        const exited = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGINT')
        await exited
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Creates a data folder of the server's user, and fills it. */
function fillFolder({ parent, fill, user }: Omit<ServerOptions, 'fsync'> & { user: ReturnType<typeof serverUser> }) {
  const folder = mkdtempSync(join(parent, 'verdigraph-postgres-'))
  if (user) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const [command, ...args] = fill(data)
  execFileSync(join(binFolder(), command), args, { ...user, cwd: folder, stdio: 'ignore' })
  return { folder, data }
}

function acceptsConnections(bin: string, port: number): boolean {
  try {
    execFileSync(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port), '-q'])
    return true
  } catch {
    return false
  }
}

export function binFolder(): string {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  const folder = versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
  if (!folder) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  return folder
}

/** The user to run the server as: PostgreSQL refuses to run as root. */
export function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) =>
        Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      // This user does not exist; try the next one.
    }
  }
  throw new Error('PostgreSQL cannot run as root, and neither the user postgres nor the user nobody exists')
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
