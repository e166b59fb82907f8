// The builds of the server below build/, each in a folder named by the fingerprint of its sources. Plain JavaScript for any Node.js,
// because bin/start.cjs asks for a build before Node.js 24 runs.
const { createHash } = require('node:crypto')
const { existsSync, readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')

const FOLDER = 'build'
const PREFIX = 'server-'
/** What a build depends on besides the sources: the packages, as they are locked and as they are installed, and its own program. */
const OTHER_FILES = [
  'package-lock.json',
  'node_modules/.package-lock.json',
  'bin/server-build.cjs',
  'scripts/build-server.ts',
]

/**
 * The folder of the build of the sources that are here, whether or not it exists. The sources are hashed, because times of files
 * do not survive a clone or an image; 550 files take about 55 ms of a busy machine.
 * @param {string} root
 */
function buildFolderOf(root) {
  const sources = join(root, 'server', 'src')
  const files = readdirSync(sources, { recursive: true })
    .map((file) => `server/src/${String(file).replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  const hash = createHash('sha256')
  const others = OTHER_FILES.filter((file) => existsSync(join(root, file)))
  for (const file of [...files.sort(), ...others]) {
    const content = readFileSync(join(root, file))
    hash.update(`${file}\0${content.length}\0`).update(content)
  }
  return join(root, FOLDER, PREFIX + hash.digest('hex').slice(0, 32))
}

/**
 * The folders of all complete builds, whatever their sources were.
 * @param {string} root
 */
function buildFolders(root) {
  const names = existsSync(join(root, FOLDER)) ? readdirSync(join(root, FOLDER)) : []
  return names.filter((name) => name.startsWith(PREFIX)).map((name) => join(root, FOLDER, name))
}

/**
 * Finds the build that fits the sources, or says why there is none.
 * @param {string} root
 * @returns {{ folder: string } | { whyNot: string }}
 */
function findBuild(root) {
  try {
    const folder = buildFolderOf(root)
    if (existsSync(join(folder, 'main.js'))) return { folder }
    return { whyNot: buildFolders(root).length > 0 ? 'the sources have changed since the build' : 'there is no build' }
  } catch (error) {
    return { whyNot: `the build could not be checked (${error instanceof Error ? error.message : error})` }
  }
}

module.exports = { buildFolderOf, buildFolders, findBuild }
