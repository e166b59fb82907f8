/** The service as users run it: a process of its own, which tests can signal and kill. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const START_WITHIN_MS = 60_000

/** A started process with what it has said so far. */
export interface ServiceProcess {
  child: ChildProcess
  ports: { console: number; sandbox: number; production: number }
  output(): string
  /** Resolves with the exit code, or the signal that ended it. */
  exited: Promise<number | NodeJS.Signals>
}

/** Finds ports that are free now, for a process that will listen on them. */
export async function freePorts(): Promise<ServiceProcess['ports']> {
  const servers = await Promise.all(
    [0, 1, 2].map(
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer().listen(0, '127.0.0.1', () => resolve(server))
        }),
    ),
  )
  const [console, sandbox, production] = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return { console: console!, sandbox: sandbox!, production: production! }
}

/** Starts the service with these settings, without waiting for it. */
export function spawnService(env: Record<string, string>, ports: ServiceProcess['ports']): ServiceProcess {
  const settings = {
    CONSOLE_PORT: String(ports.console),
    SANDBOX_PORT: String(ports.sandbox),
    PRODUCTION_PORT: String(ports.production),
  }
  const child = spawn(process.execPath, ['server/src/main.ts'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...settings, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data
    })
  }
  const exited = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal!)),
  )
  return { child, ports, output: () => output, exited }
}

/** Starts the service and waits until it is ready. */
export async function startServiceProcess(
  env: Record<string, string>,
  ports?: ServiceProcess['ports'],
): Promise<ServiceProcess> {
  const service = spawnService(env, ports ?? (await freePorts()))
  const deadline = Date.now() + START_WITHIN_MS
  while (!service.output().includes('"msg":"ready"')) {
    if (service.child.exitCode !== null || Date.now() > deadline)
      throw new Error(`the service did not start:\n${service.output()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return service
}

/** Runs the command line and waits for its end. */
export function runCli(
  env: Record<string, string>,
  ...args: string[]
): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['server/src/cli/main.ts', ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}
