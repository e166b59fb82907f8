/** The service as users run it: in its own process, which tests can signal and kill. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const OUTPUT_WITHIN_MS = 180_000
/** What a process inherits: where programs are, and compiled code, without which it loads for a second longer. */
const { PATH, NODE_COMPILE_CACHE } = process.env
const INHERITED = { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) }

/** A started process and its output so far. */
export interface ServiceProcess {
  child: ChildProcess
  ports: { console: number; sandbox: number; production: number }
  output(): string
  /** Resolves once the output contains a text; rejects if the process exits before. */
  untilOutput(text: string): Promise<void>
  /** Resolves with the exit code, or the signal that ended it. */
  exited: Promise<number | NodeJS.Signals>
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<number | NodeJS.Signals>
}

/** Finds three free ports for a process to listen on. */
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

/** A launcher that gives a process a terminal, as a person has; its output arrives with the line ends of a terminal. */
export const ON_TERMINAL: readonly string[] = ['sh', '-c', 'exec script -qfec "$0 $1" /dev/null']

/**
 * Starts the service with these settings, without waiting until it is ready: under a launcher such as `unshare`, by
 * another entry file, or by a whole command such as `npm start`.
 */
export function spawnService(
  env: Record<string, string>,
  ports: ServiceProcess['ports'],
  {
    launcher = [],
    entry = 'server/src/main.ts',
    command: given = [...launcher, process.execPath, entry],
  }: { launcher?: readonly string[]; entry?: string; command?: readonly string[] } = {},
): ServiceProcess {
  const settings = {
    CONSOLE_PORT: String(ports.console),
    SANDBOX_PORT: String(ports.sandbox),
    PRODUCTION_PORT: String(ports.production),
  }
  const [command, ...args] = given
  const child = spawn(command!, args, {
    cwd: ROOT,
    env: { ...INHERITED, ...settings, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // A test that fails may end before it stops its service.
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('close', () => process.off('exit', kill))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data
    })
  }
  const exited = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal!)),
  )
  const stop = () => {
    child.kill('SIGTERM')
    return exited
  }
  const untilOutput = async (text: string) => {
    const deadline = Date.now() + OUTPUT_WITHIN_MS
    while (!output.includes(text)) {
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline)
        throw new Error(`the service did not print ${text}:\n${output}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  return { child, ports, output: () => output, untilOutput, exited, stop }
}

/** Starts the service and waits until it is ready. */
export async function startServiceProcess(
  env: Record<string, string>,
  ports?: ServiceProcess['ports'],
  launcher: readonly string[] = [],
): Promise<ServiceProcess> {
  const service = spawnService(env, ports ?? (await freePorts()), { launcher })
  await service.untilOutput('"msg":"ready"')
  return service
}

/** Runs a command of the command line to its end. */
export function runCli(
  env: Record<string, string>,
  ...args: string[]
): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['server/src/cli/main.ts', ...args], {
    cwd: ROOT,
    env: { ...INHERITED, ...env },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

/** Runs a command that has to succeed, and returns its JSON output. */
// biome-ignore lint/suspicious/noExplicitAny: each command has its own output.
export function runCliForJson(env: Record<string, string>, ...args: string[]): any {
  const { status, stdout, stderr } = runCli(env, ...args, '--json')
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}${stdout}`)
  return JSON.parse(stdout)
}

/** The sandbox key that the first start of an installation left in its data folder. */
export function firstRunKey(dataDir: string): string {
  return /sk_sandbox_\w+/.exec(readFileSync(join(dataDir, 'first-run.txt'), 'utf8'))![0]
}

/** Posts JSON to a port of this machine. */
export async function postJson(
  url: { port: number; path: string },
  { key, body, headers = {} }: { key: string; body: unknown; headers?: Record<string, string> },
): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://127.0.0.1:${url.port}${url.path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

/**
 * Waits until every node has seen the newest keys, gate and policies. A node caches them for half a second, and the
 * documentation promises a second, so a longer wait would hide a defect.
 */
export function untilCachesExpire(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1_000))
}
