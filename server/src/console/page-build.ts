import { createHash } from 'node:crypto'
import { access, constants, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { NotBuildable, runBuild } from '../build/build-process.ts'

/** The folder of the page: its sources, and `dist/`, which is built from them. */
export const CONSOLE_FOLDER = join(import.meta.dirname, '../../../console')

/**
 * The files of the server that the page takes values from, relative to its folder: constants of the engine and pure functions
 * of them. `tidy.test.ts` refuses any other.
 */
export const SHARED_FILES = [
  '../server/src/core/approval-limits.ts',
  '../server/src/core/decide/settling-steps.ts',
  '../server/src/core/policy/table-grid.ts',
  '../server/src/core/schema/currency-decimals.ts',
  '../server/src/core/vocabularies.ts',
] as const

const FINGERPRINT_FILE = 'fingerprint'

/** The hash of everything that the built page depends on; undefined where the sources are not installed. */
export async function fingerprintOfSources(folder: string): Promise<string | undefined> {
  const files = (await filesBelow(folder)).filter((file) => !/^(dist|node_modules|tests)\b/.test(file))
  if (!files.includes('index.html')) return undefined
  const hash = createHash('sha256')
  for (const file of [...files.sort(), ...SHARED_FILES, '../package-lock.json']) {
    const content = await readFile(join(folder, file)).catch(() => '')
    hash.update(`${file}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/** The fingerprint of the sources that `dist/` was built from; undefined if there is no complete `dist/`. */
export async function fingerprintOfDist(folder: string): Promise<string | undefined> {
  return readFile(join(folder, 'dist', FINGERPRINT_FILE), 'utf8').catch(() => undefined)
}

/**
 * Builds `dist/` in a process of the lowest priority. The old `dist/` stays until the new one is complete, so that a
 * build that is interrupted or fails leaves it as it was.
 */
export async function buildPage(folder: string, { signal }: { signal?: AbortSignal } = {}): Promise<void> {
  const fingerprint = await fingerprintOfSources(folder)
  if (!fingerprint) throw new NotBuildable('its sources are not installed')
  const vite = findVite(folder)
  await access(folder, constants.W_OK).catch(() => {
    throw new NotBuildable(`the folder ${folder} cannot be written`)
  })
  const unfinished = join(folder, `dist-unfinished-${process.pid}`)
  const replaced = join(folder, `dist-replaced-${process.pid}`)
  try {
    await mkdir(unfinished, { recursive: true })
    await runBuild([vite, 'build', '--outDir', unfinished, '--emptyOutDir', '--logLevel', 'warn'], { folder, signal })
    await writeFile(join(unfinished, FINGERPRINT_FILE), fingerprint)
    await rename(join(folder, 'dist'), replaced).catch(() => {}) // there is none before the first build
    await rename(unfinished, join(folder, 'dist'))
  } finally {
    await rm(unfinished, { recursive: true, force: true })
    await rm(replaced, { recursive: true, force: true })
  }
}

/** The files below a folder, as paths relative to it. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
}

function findVite(folder: string): string {
  try {
    return join(createRequire(join(folder, 'package.json')).resolve('vite/package.json'), '../bin/vite.js')
  } catch {
    throw new NotBuildable('Vite is not installed')
  }
}
