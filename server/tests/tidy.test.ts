/** The rules of the house, executed. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { HINTS as COMMAND_LINE_HINTS } from '../src/cli/hints.ts'
import { HINTS as CONSOLE_HINTS } from '../src/console/hints.ts'
import { SHARED_FILES } from '../src/console/page-build.ts'

const ROOT = join(import.meta.dirname, '../..')
const LINES_PER_FILE = 400
const LINES_PER_FUNCTION = 70

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
const files = listed.split('\n').filter((file) => file !== '' && existsSync(join(ROOT, file)))
const sources = files
  .filter((file) => /^(server|console|scripts|studies|bin|bench)\/.*\.(tsx?|js)$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))
const isTest = (file: string) => file.endsWith('.test.ts') || /^(server\/(tests|proofs)|console\/tests)\//.test(file)
const code = sources.filter(({ file }) => !isTest(file))

/**
 * The rooms of the server, lowest first, and what each may import: lower rooms, or one file of such a room. `service/` is the
 * composition root and may import everything.
 */
const BOUNDARIES: Record<string, readonly string[]> = {
  core: [],
  ids: ['core'],
  threads: [],
  build: [],
  store: ['core', 'config.ts', 'ids'],
  security: ['core', 'config.ts'],
  underwriting: ['core', 'ids', 'store'],
  consequences: ['core', 'ids', 'store', 'underwriting'],
  audit: ['core', 'config.ts', 'ids', 'security', 'store'],
  webhooks: ['core', 'config.ts', 'ids', 'security', 'store'],
  installation: ['audit', 'config.ts', 'ids', 'security', 'store', 'threads'],
  http: ['core', 'config.ts'],
  api: ['consequences', 'core', 'config.ts', 'http', 'ids', 'security', 'store', 'underwriting'],
  metrics: ['core', 'config.ts', 'version.ts', 'http', 'installation', 'store', 'webhooks'],
  admin: [
    'audit',
    'core',
    'config.ts',
    'ids',
    'installation',
    'security',
    'store',
    'threads',
    'underwriting',
    'webhooks',
  ],
  'sign-in': ['admin', 'core', 'config.ts', 'installation', 'security', 'store'],
  console: [
    'admin',
    'api/schemas/transaction.ts',
    'audit',
    'build',
    'core',
    'config.ts',
    'http',
    'ids',
    'installation',
    'metrics',
    'security',
    'sign-in',
    'store',
    'threads',
    'underwriting',
  ],
  cli: [
    'admin',
    'audit',
    'core',
    'config.ts',
    'installation',
    'security',
    'store',
    'threads',
    'underwriting',
    'version.ts',
  ],
}
/** Packages that are pure functions, and so fit for the core. */
const PURE_PACKAGES = [
  'canonicalize',
  '@marcbachmann/cel-js',
  'ipaddr.js',
  'typebox',
  // A constant setting, made when its module is loaded.
  'typebox/system',
  'typebox/value',
  'yaml',
  'node:crypto',
]

test('every room of the server imports only what it may', () => {
  for (const { file, room, imported } of roomImports()) {
    const allowed = BOUNDARIES[room]
    assert.ok(allowed || room === 'service', `${room}/ is not in the table of rooms`)
    const other = imported.split('/')[0]!
    assert.ok(
      !allowed || other === room || allowed.includes(other) || allowed.includes(imported),
      `${file} imports ${imported}, which ${room}/ may not`,
    )
  }
  for (const { file, text } of code.filter(({ file: name }) => name.startsWith('server/src/core/')))
    for (const target of importsOf(text).filter((name) => !name.startsWith('.')))
      assert.ok(PURE_PACKAGES.includes(target), `${file} imports ${target}, which is not known to be pure`)
})

test('no arrow between rooms points upward, and no two rooms import each other, not even for a type', () => {
  const rooms = Object.keys(BOUNDARIES)
  for (const [room, allowed] of Object.entries(BOUNDARIES))
    for (const other of allowed.map((name) => name.split('/')[0]!).filter((name) => !name.endsWith('.ts')))
      assert.ok(
        rooms.slice(0, rooms.indexOf(room)).includes(other),
        `${room}/ may import ${other}/, which is no lower room`,
      )
  const arrows = roomImports()
    .map(({ room, imported }) => ({ room, other: imported.split('/')[0]! }))
    .filter(({ room, other }) => room !== other)
  const byRoom = [...Map.groupBy(arrows, ({ room }) => room)]
  assert.equal(findCycle(new Map(byRoom.map(([room, all]) => [room, all.map(({ other }) => other)]))), undefined)
})

/** What the page may take from the server: types of the table of operations, and the values that it shares with the core. */
const SERVER_TYPES_OF_THE_PAGE = ['console/define-operation.ts', 'console/operations.ts']
const SERVER_VALUES_OF_THE_PAGE = SHARED_FILES.map((file) => relative('../server/src', file))

test('the page imports the types of the operations and the shared values from the server, and nothing else', () => {
  for (const { file, text } of code.filter(({ file: name }) => name.startsWith('console/src/'))) {
    for (const [line, target] of text.matchAll(/^(?:import|export)[^'"]*from '([^']*\/server\/[^']*)'/gm)) {
      const imported = relative('server/src', join(dirname(file), target!))
      if (SERVER_VALUES_OF_THE_PAGE.includes(imported)) continue
      assert.match(line, /^import type /, `${file} would put a part of the server into the page`)
      assert.ok(SERVER_TYPES_OF_THE_PAGE.includes(imported), `${file} imports ${imported}`)
    }
  }
})

/**
 * What each folder of the page may import, from the lowest to the highest, so that there is no circle between folders.
 * `router.tsx` and `main.tsx` put the page together and may import everything.
 */
const PAGE_BOUNDARIES: Record<string, readonly string[]> = {
  theme: [],
  api: [],
  components: ['api'],
  drafts: ['api', 'components'],
  entry: ['components'],
  shell: ['api', 'components', 'drafts'],
  'decision-view': ['api', 'components', 'shell'],
  pages: ['api', 'components', 'drafts', 'entry', 'shell', 'decision-view'],
}
/** The pages that import another page: a webhook endpoint shows its deliveries. */
const PAGES_WITHIN_PAGES: Record<string, readonly string[]> = { webhooks: ['deliveries'] }
const pageCode = code.filter(({ file }) => file.startsWith('console/src/'))

test('every folder of the page imports only what lies below it, and a page no other page', () => {
  const folders = Object.keys(PAGE_BOUNDARIES)
  for (const [folder, allowed] of Object.entries(PAGE_BOUNDARIES))
    for (const other of allowed)
      assert.ok(folders.indexOf(other) < folders.indexOf(folder), `${folder} is below ${other}`)
  for (const { file, text } of pageCode) {
    const [folder, page] = relative('console/src', file).split('/') as [string, string]
    if (['main.tsx', 'router.tsx'].includes(folder)) continue
    const allowed = PAGE_BOUNDARIES[folder]
    assert.ok(allowed, `${folder} is missing in PAGE_BOUNDARIES`)
    for (const target of importsOf(text).filter((specifier) => specifier.startsWith('.'))) {
      const imported = relative('console/src', join(dirname(file), target))
      if (imported.startsWith('..')) continue
      const [other, otherPage] = imported.split('/') as [string, string]
      const isOwn = other === folder && (folder !== 'pages' || otherPage === page)
      const isNamed = other === 'pages' && folder === 'pages' && PAGES_WITHIN_PAGES[page]?.includes(otherPage)
      assert.ok(isOwn || isNamed || allowed.includes(other), `${file} may not import ${imported}`)
    }
  }
})

test('the values that the page shares with the server import nothing else of it', () => {
  for (const shared of SERVER_VALUES_OF_THE_PAGE) {
    const file = join('server/src', shared)
    for (const target of importsOf(readFileSync(join(ROOT, file), 'utf8')))
      assert.ok(
        SERVER_VALUES_OF_THE_PAGE.includes(relative('server/src', join(dirname(file), target))),
        `${file} would put ${target} into the page`,
      )
  }
})

test('no file imports itself by way of others, not even for a type', () => {
  const imports = new Map(
    code.map(({ file, text }) => [
      file,
      importsOf(text).flatMap((target) => (target.startsWith('.') ? [join(dirname(file), target)] : [])),
    ]),
  )
  assert.equal(findCycle(imports), undefined)
})

test('server/src holds rooms, and of files only the settings, the process and the release', () => {
  const loose = files.filter((file) => /^server\/src\/[^/]+$/.test(file))
  assert.deepEqual(
    loose,
    ['config', 'main', 'parse-settings', 'version'].map((name) => `server/src/${name}.ts`),
  )
})

test('every hint is about a problem that the code throws', () => {
  const text = code
    .filter(({ file }) => file.startsWith('server/src/') && !file.endsWith('/hints.ts'))
    .map(({ text: source }) => source)
    .join('\n')
  for (const hints of [CONSOLE_HINTS, COMMAND_LINE_HINTS])
    for (const name of Object.keys(hints)) assert.ok(text.includes(`'${name}'`), `no problem has the code ${name}`)
})

test('the code of a problem has one kind', () => {
  const kinds = new Map<string, string>()
  for (const { file, text } of code.filter(({ file: name }) => name.startsWith('server/src/')))
    for (const [, kind, name] of text.matchAll(
      /\b(notFound|conflict|forbidden|invalid|notSignedIn|throttled)\(\s*'(\w+)'/g,
    )) {
      assert.equal(kinds.get(name!) ?? kind, kind, `${file}: ${name} has another kind elsewhere`)
      kinds.set(name!, kind!)
    }
  assert.ok(kinds.size > 100, 'the pattern finds the problems')
})

test('the core has no clock, no chance and no code made of text', () => {
  for (const { file, text } of code.filter(({ file: name }) => name.startsWith('server/src/core/'))) {
    assert.doesNotMatch(
      text,
      /Date\.now\(|new Date\(\)|Math\.random\(|\beval\(|new Function\(|process\.|\bfetch\(/,
      file,
    )
  }
})

test('only config.ts and the entry points look at the environment variables', () => {
  for (const { file, text } of code) {
    if (/^server\/src\/(main|cli\/main)\.ts$|^(scripts|bin|bench)\//.test(file)) continue
    assert.doesNotMatch(text, /process\.env/, file)
  }
})

test('names say what things are: kebab-case files, and no drawers for odds and ends', () => {
  for (const file of files.filter((name) => /^(server|console|scripts|studies|policies)\//.test(name))) {
    const name = file.split('/').at(-1)!
    assert.match(name, /^([a-z0-9][a-z0-9.-]*|README\.md)$/, file)
    assert.doesNotMatch(file, /(^|\/)(utils?|common|helpers?|services|misc|lib)(\/|\.tsx?$)/, file)
  }
})

test('nothing is left half done, skipped without a reason, or pointed at this machine', () => {
  for (const { file, text } of sources) {
    if (file === 'server/tests/tidy.test.ts') continue
    assert.doesNotMatch(text, /\b(TODO|FIXME|XXX)\b|@ts-ignore|@ts-nocheck|\.only\(|\bas any[,;)\]]/, file)
    assert.doesNotMatch(text, /biome-ignore [^:]*$|biome-ignore [^:]*: *$/m, `${file}: a suppression says its reason`)
  }
  for (const file of files.filter(
    (name) => /\.(tsx?|js|css|html|md|json|yaml|sql)$/.test(name) && name !== 'package-lock.json',
  )) {
    if (file === 'server/tests/tidy.test.ts') continue
    assert.doesNotMatch(
      readFileSync(join(ROOT, file), 'utf8'),
      /\/(root|work|home\/\w+)\/|\.\.\/shared|registry\.npmjs/,
      file,
    )
  }
})

test('only a test file starts a service when it is loaded, because files of one process share every other module', () => {
  for (const { file, text } of sources)
    if (!/\.(test|proof|journey)\.ts$/.test(file))
      assert.doesNotMatch(text, /^(export )?const [^\n]*= await startTestService\(/m, file)
})

test('no object is spread where it is written, which only folds its lines', () => {
  // A merge of other objects begins with a spread of its own.
  for (const { file, text } of sources) assert.doesNotMatch(text, /\.{3}\{\s*[^\s.]/, file)
})

/** Phrases that hide who acts; name the subject instead (CONTRIBUTING.md, "How does code read here?"). */
const RIDDLES =
  /\b(whoever|whomever|whatever stands|some(body|one)|no(body| one(?!-))|any(body|one)|every(body|one)|th(ose|em) who|what is spoken of|(has|have) (it|them) (looked|told|asked)|looked at again|at a pace|made anew)\b/i

/** The unprivileged user of Unix systems. */
const UNIX_USER = /'nobody'|user nobody/

test('comments, documents and messages name who acts', () => {
  const prose = files.filter(
    (file) => /\.(tsx?|js|cjs|css|html|sql|md|yaml)$/.test(file) && !file.startsWith('server/tests/golden/'),
  )
  for (const file of prose.filter((name) => name !== 'server/tests/tidy.test.ts')) {
    for (const [index, line] of readFileSync(join(ROOT, file), 'utf8').split('\n').entries())
      assert.doesNotMatch(line.replace(UNIX_USER, ''), RIDDLES, `${file}:${index + 1}`)
  }
})

test('the lock file has every optional package, without which npm ci refuses to run', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>
  }
  const locked = new Set(Object.keys(lock.packages).map((path) => path.split('node_modules/').at(-1)))
  for (const [path, { optionalDependencies = {} }] of Object.entries(lock.packages)) {
    for (const name of Object.keys(optionalDependencies))
      assert.ok(locked.has(name), `${path} wants ${name}, which is not locked`)
  }
})

test(`files have at most ${LINES_PER_FILE} lines, functions at most ${LINES_PER_FUNCTION}`, () => {
  for (const { file, text } of code) {
    const lines = text.split('\n')
    assert.ok(lines.length <= LINES_PER_FILE, `${file} has ${lines.length} lines`)
    for (const { name, length } of functionsOf(lines))
      assert.ok(length <= LINES_PER_FUNCTION, `${file}: ${name} has ${length} lines`)
  }
})

test('one sentence heads every exported thing', () => {
  for (const { file, text } of code.filter(({ file: name }) => /^(server|console)\/src\//.test(name))) {
    const lines = text.split('\n')
    // Schemas and commands carry their descriptions themselves; a type named like its schema shares the schema's.
    const kinds = /\/(schemas|cli)\//.test(file)
      ? /^export (async )?(function|class|interface) /
      : /^export (async )?(function|class|interface|const|type) /
    lines.forEach((line, index) => {
      if (!kinds.test(line) || /^export type (\{|(\w+) = (Static<typeof \2>|\(typeof ))/.test(line)) return
      const above = lines[index - 1] ?? ''
      const related = /^export const/.test(above) || /^\/\/ biome-ignore/.test(above)
      assert.ok(above.endsWith('*/') || related, `${file}:${index + 1} has no sentence: ${line}`)
    })
  }
})

/** The specifiers of all imports and re-exports of a file, dynamic imports included. */
function importsOf(text: string): string[] {
  const specifiers =
    /^(?:import|export) [^'"]*?from '([^']+)'|^import '([^']+)'|^\} from '([^']+)'|\bimport\('([^']+)'\)/gm
  return [...text.matchAll(specifiers)].map((match) => (match[1] ?? match[2] ?? match[3] ?? match[4])!)
}

/** Every import of a file within a room of the server, by path from `server/src`. */
function roomImports(): { file: string; room: string; imported: string }[] {
  return code.flatMap(({ file, text }) => {
    const [, room] = /^server\/src\/([^/]+)\//.exec(file) ?? []
    if (room === undefined) return []
    const targets = importsOf(text).filter((target) => target.startsWith('.'))
    return targets.map((target) => ({ file, room, imported: relative('server/src', join(dirname(file), target)) }))
  })
}

/** The first import cycle of a depth-first search, as a list of files or rooms; undefined if there is none. */
function findCycle(imports: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const target of imports.get(file) ?? []) {
      const cycle = visit(target, [...path, file])
      if (cycle) return cycle
    }
    done.add(file)
    return undefined
  }
  for (const file of imports.keys()) {
    const cycle = visit(file, [])
    if (cycle) return cycle
  }
  return undefined
}

/** The functions of a formatted file: from the line that opens one to the line that closes it at the same indent. */
function functionsOf(lines: readonly string[]): { name: string; length: number }[] {
  const found: { name: string; length: number }[] = []
  lines.forEach((line, start) => {
    const opening = /^(\s*)(?:export )?(?:async )?(?:function\*? (\w+)|(?:async )?(#?\w+)\(.*\)(?:: .+)? \{$)/.exec(
      line,
    )
    if (!opening || /^\s*(if|for|while|switch|return|test)\b/.test(line)) return
    // `}: {` and `}) {` end a list of parameters.
    const end = lines.findIndex(
      (other, index) =>
        index > start && /^\}(?!: |\) )/.test(other.slice(opening[1]!.length)) && other.startsWith(`${opening[1]}}`),
    )
    // A family of queries is a list of short functions; each of them is measured.
    if (end > start && !/Queries$/.test(opening[2] ?? ''))
      found.push({ name: opening[2] ?? opening[3] ?? '?', length: end - start + 1 })
  })
  return found
}
