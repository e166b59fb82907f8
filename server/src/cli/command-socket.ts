import { chmodSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Installation } from '../service/installation.ts'
import type { CommandInput, Problem } from './command.ts'

/** Unix limits the path of a socket to about a hundred bytes. */
const PATH_BYTES_MAX = 100

/** How long whoever connects may take to say what is wanted. */
const SAY_WITHIN_MS = 10_000

/** Nobody listens: no server is running on this data folder. */
export const NO_SERVER = Symbol('no server')

function socketPath(dataDir: string): string {
  const absolute = join(dataDir, 'cli.sock')
  const fromHere = relative(process.cwd(), absolute)
  return fromHere.length < absolute.length ? fromHere : absolute
}

/**
 * Lets the command line work on the embedded database while the server has it open, through a socket that only the
 * owner of the data folder can use. Returns the function that closes it.
 */
export async function openCommandSocket(installation: Installation): Promise<() => Promise<void>> {
  const path = socketPath(installation.config.dataDir)
  if (Buffer.byteLength(path) > PATH_BYTES_MAX)
    throw new Error(`the path of the data folder is too long for a socket in it: ${installation.config.dataDir}`)
  const sockets = new Set<Socket>()
  // Half open: whoever has said all of a command still waits for what became of it.
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {}) // somebody did not wait for the answer
    const result = await runCommand(installation, socket).catch((error: Error): Problem => ({ problem: error.message }))
    socket.end(JSON.stringify(result))
  })
  // The folder's lock is ours, so a socket that is still there belongs to a process that died.
  rmSync(path, { force: true })
  const mask = process.umask(0o177)
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  } finally {
    process.umask(mask)
  }
  chmodSync(path, 0o600)
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) if (!socket.readableEnded) socket.destroy()
    })
}

async function runCommand(installation: Installation, socket: Socket): Promise<unknown> {
  socket.setTimeout(SAY_WITHIN_MS, () => socket.destroy())
  const said = await text(socket)
  socket.setTimeout(0)
  const { command: name, input } = JSON.parse(said) as { command: string; input: CommandInput }
  // Loaded once the server has started, which need not wait for them.
  const { findCommand } = await import('./commands.ts')
  const command = findCommand(name)
  if (!command)
    return { problem: `the running server does not know the command ${name}: it is of another release, restart it` }
  return command.run(installation, input)
}

/** Has the running server run a command; `NO_SERVER` if none is running on this data folder. */
export function runOnServer(
  dataDir: string,
  command: string,
  input: CommandInput,
): Promise<unknown | typeof NO_SERVER> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath(dataDir))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(NO_SERVER)
      else reject(error)
    })
    text(socket).then((answer) => resolve(readAnswer(answer)), reject)
    socket.end(JSON.stringify({ command, input }))
  })
}

function readAnswer(answer: string): unknown {
  try {
    return JSON.parse(answer)
  } catch {
    return {
      problem:
        'the running server gave no answer: it was stopped meanwhile, or is of another release. Look whether the command took effect before you repeat it',
    } satisfies Problem
  }
}
