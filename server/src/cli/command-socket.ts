/**
 * Lets the command line work while a server has the embedded database open. The database belongs to one process at a
 * time, so the calling process sends the command's name and input over a Unix socket in the data folder, the server
 * runs the command and sends back its result, both as JSON. Lines about its progress precede the result, each as
 * `{"progress": …}` on its own line.
 */
import { chmodSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { conflict, Problem } from '../admin/problem.ts'
import { ConfigError } from '../config.ts'
import type { Installation } from '../installation/installation.ts'
import type { CommandInput, OnProgress } from './command.ts'

/** Unix limits the path of a socket to about a hundred bytes. */
const PATH_BYTES_MAX = 100

/** How long a client may take to send its command. */
const REQUEST_TIMEOUT_MS = 10_000

/** No server is running on this data folder. */
export const NO_SERVER = Symbol('no server')

/** The relative path if it is shorter than the absolute one, because of the limit on its length. */
function socketPath(dataDir: string): string {
  const absolute = join(dataDir, 'cli.sock')
  const fromHere = relative(process.cwd(), absolute)
  const path = fromHere.length < absolute.length ? fromHere : absolute
  if (Buffer.byteLength(path) > PATH_BYTES_MAX)
    throw new ConfigError(
      `the socket path ${path} is longer than ${PATH_BYTES_MAX} bytes: set DATA_DIR to a shorter path`,
    )
  return path
}

/** Opens the server's end of the socket, for the owner of the data folder only, and returns the function that closes it. */
export async function openCommandSocket(installation: Installation): Promise<() => Promise<void>> {
  const path = socketPath(installation.config.dataDir)
  const sockets = new Set<Socket>()
  // Half open: a client ends its side once the command is sent, and then waits for the result.
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {}) // The client left before it had the result.
    const answer = await runCommand(installation, socket).then(
      (result): Answer => ({ result }),
      (error: Error): Answer => ({ problem: problemOf(error) }),
    )
    socket.end(JSON.stringify(answer))
  })
  // This process holds the lock on the folder, so a socket left there belongs to a process that died.
  rmSync(path, { force: true })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  chmodSync(path, 0o600)
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) if (!socket.readableEnded) socket.destroy()
    })
}

async function runCommand(installation: Installation, socket: Socket): Promise<unknown> {
  socket.setTimeout(REQUEST_TIMEOUT_MS, () => socket.destroy())
  const request = await text(socket)
  socket.setTimeout(0)
  const { command: name, input } = JSON.parse(request) as { command: string; input: CommandInput }
  // Imported here, so that the start of the server does not wait for the commands to load.
  const { findCommand } = await import('./commands.ts')
  const command = findCommand(name)
  if (!command)
    throw conflict('other_release', `The running server does not know the command ${name}: it runs another release.`)
  return command.run(installation, input, (progress) => socket.write(`${JSON.stringify({ progress })}\n`))
}

/** What the server sends back: the result of a command, or why there is none. */
type Answer = { result: unknown } | { problem: Pick<Problem, 'kind' | 'code' | 'message'> }

function problemOf(error: Error): Pick<Problem, 'kind' | 'code' | 'message'> {
  const { kind, code } = error instanceof Problem ? error : conflict('command_failed', error.message)
  return { kind, code, message: error.message }
}

/** Runs a command in the server that has this data folder open; returns `NO_SERVER` if no server is running. */
export async function runOnServer(
  dataDir: string,
  { command, input, onProgress }: { command: string; input: CommandInput; onProgress: OnProgress },
): Promise<unknown | typeof NO_SERVER> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath(dataDir))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(NO_SERVER)
      else reject(error)
    })
    let result = ''
    createInterface({ input: socket })
      .on('error', () => {}) // It repeats the socket's error, which is handled above.
      .on('line', (line) => {
        if (line.startsWith('{"progress":')) onProgress(JSON.parse(line).progress)
        else result = line
      })
      .on('close', () => {
        try {
          resolve(readAnswer(result))
        } catch (problem) {
          reject(problem)
        }
      })
    socket.end(JSON.stringify({ command, input }))
  })
}

function readAnswer(text: string): unknown {
  const answer = parseAnswer(text)
  if ('result' in answer) return answer.result
  if (typeof answer.problem?.message !== 'string')
    // Shown as it is: it may hold a secret that cannot be shown again.
    throw conflict('other_release', `The running server runs another release. It answered: ${text}`)
  const { kind, code, message } = answer.problem
  throw new Problem(kind, code, message)
}

function parseAnswer(text: string): Answer {
  try {
    return JSON.parse(text)
  } catch {
    throw conflict(
      'connection_lost',
      'The running server closed the connection without a result, because it was stopped or runs another release.',
    )
  }
}
