import { type ChildProcess, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { basename } from 'node:path'

/** Behind every other process: the machine answers requests while it builds. */
const LOWEST_PRIORITY = 19
const OUTPUT_CHARACTERS_MAX = 4_000

/** Why something cannot be built here, in words for the operator of the service. */
export class NotBuildable extends Error {}

/** Runs a program that builds, in a process of the lowest priority; throws with the end of its output if it fails. */
export async function runBuild(
  [program, ...args]: readonly [string, ...string[]],
  { folder, signal }: { folder: string; signal?: AbortSignal | undefined },
): Promise<void> {
  // The settings of the service, of which some are secret, are not for the build.
  const child: ChildProcess = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal && { signal }),
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data) => {
      output = (output + data).slice(-OUTPUT_CHARACTERS_MAX)
    })
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  try {
    if (child.pid) setPriority(child.pid, LOWEST_PRIORITY)
  } catch {
    // A system that does not allow it builds at its usual priority.
  }
  const code = await exited
  if (code !== 0) throw new Error(`${basename(program)} ended with ${code}:\n${output.trim()}`)
}
