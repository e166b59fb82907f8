/**
 * Bundles the server and its packages into `build/server-<fingerprint>`: a start then loads some 80 files instead of a thousand.
 *
 * It is a process of its own, without the settings of the service, and nothing of it runs in a process that opens the data folder.
 * The files that the server reads (migrations, policies, package.json, the page) stay where they are.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { buildFolderOf, buildFolders } from '../bin/server-build.cjs'

const ROOT = join(import.meta.dirname, '..')
/** A process that runs an older build still loads parts of it, so that some are kept. */
const BUILDS_KEPT = 3
const UNFINISHED = 'unfinished-'
const ABANDONED_AFTER_MS = 3_600_000

/** Lets sources find modules and files from the build: both are named by their places among the sources. */
function keepAddresses(out: string): Plugin {
  return {
    name: 'keep-addresses',
    transform: {
      filter: { id: /\/server\/src\/.*\.ts$/, code: 'import.meta' },
      handler(code, id) {
        const folder = dirname(id)
        const fromBuild = (path: string) => relative(out, resolve(folder, path))
        const changed = code
          .replaceAll(/new URL\('([^']+\.ts)', import\.meta\.url\)/g, (_, path: string) => {
            const reference = this.emitFile({ type: 'chunk', id: resolve(folder, path) })
            return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`
          })
          .replaceAll(/new URL\('([^']+)', import\.meta\.url\)/g, (_, path: string) => {
            return `new URL('${fromBuild(path)}', import.meta.url)`
          })
          .replaceAll(/join\(import\.meta\.dirname, '([^']+)'/g, (_, path: string) => {
            return `join(import.meta.dirname, '${fromBuild(path)}'`
          })
        const known =
          /new URL\(('[^']+', import\.meta\.url|import\.meta\.ROLLUP_FILE_URL_\w+)\)|join\(import\.meta\.dirname, '/g
        if (changed.replaceAll(known, '').includes('import.meta'))
          this.error(`${id} uses import.meta in a way that ${relative(ROOT, import.meta.filename)} does not know`)
        return changed
      },
    },
  }
}

async function bundle(out: string): Promise<void> {
  const build = await rolldown({
    cwd: ROOT,
    input: { main: 'server/src/main.ts', cli: 'server/src/cli/main.ts' },
    platform: 'node',
    tsconfig: false,
    // The embedded database finds its WebAssembly beside its own modules.
    external: /^@electric-sql\//,
    plugins: [keepAddresses(out)],
  })
  // Not minified: the names in a stack trace are those of the sources.
  await build.write({ dir: out, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js' })
  await build.close()
}

/** Deletes builds that no start will use again, and what interrupted builds have left. */
async function tidy(folder: string): Promise<void> {
  const byAge = await Promise.all(buildFolders(ROOT).map(async (path) => ({ path, ms: (await stat(path)).mtimeMs })))
  const old = byAge.sort((a, b) => b.ms - a.ms).slice(BUILDS_KEPT)
  for (const name of (await readdir(folder)).filter((entry) => entry.startsWith(UNFINISHED))) {
    const path = join(folder, name)
    if (Date.now() - (await stat(path)).mtimeMs > ABANDONED_AFTER_MS) old.push({ path, ms: 0 })
  }
  for (const { path } of old) await rm(path, { recursive: true, force: true })
}

const target = buildFolderOf(ROOT)
const folder = dirname(target)
const unfinished = join(folder, UNFINISHED + randomUUID())
try {
  await mkdir(unfinished, { recursive: true })
  await bundle(unfinished)
  await rename(unfinished, target).catch((error) => {
    // Another process has built the same sources.
    if (!existsSync(join(target, 'main.js'))) throw error
  })
  await tidy(folder)
} finally {
  await rm(unfinished, { recursive: true, force: true })
}
