import { existsSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { NotBuildable, runBuild } from './build-process.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** After the first requests of a start, and the work that it deferred. */
const BUILD_AFTER_MS = 5_000

/** Builds the server into `build/` below the root of the code, which takes about a second. */
export async function buildServer({
  root = ROOT,
  signal,
}: {
  root?: string
  signal?: AbortSignal
} = {}): Promise<void> {
  const program = join(root, 'scripts/build-server.ts')
  if (!existsSync(program)) throw new NotBuildable('its sources are not installed')
  try {
    createRequire(join(root, 'package.json')).resolve('rolldown')
  } catch {
    throw new NotBuildable('Rolldown is not installed')
  }
  await access(root, constants.W_OK).catch(() => {
    throw new NotBuildable(`the folder ${root} cannot be written`)
  })
  await runBuild([program], { folder: root, signal })
}

/** Builds the server for the next start, some seconds after this one; returns the function that ends the build. */
export function buildServerForNextStart(
  logger: Logger,
  { root = ROOT, afterMs = BUILD_AFTER_MS }: { root?: string; afterMs?: number } = {},
): () => Promise<void> {
  const aborter = new AbortController()
  let building: Promise<void> | undefined
  const build = async () => {
    try {
      await buildServer({ root, signal: aborter.signal })
      logger.info('built the server for the next start')
    } catch (error) {
      if (aborter.signal.aborted) return
      if (error instanceof NotBuildable) logger.info({ why: error.message }, 'the server cannot be built here')
      else logger.error({ err: error }, 'the server could not be built; the next start runs from source again')
    }
  }
  const timer = setTimeout(() => {
    building = build()
  }, afterMs).unref()
  return async () => {
    clearTimeout(timer)
    aborter.abort()
    await building
  }
}
