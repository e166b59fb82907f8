import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBuild } from '../../bin/server-build.cjs'
import { buildServer } from '../../server/src/build/server-build.ts'
import { personas } from '../../server/tests/personas.ts'
import type { Effort, Measured } from '../bench.ts'
import { endProcess, startMeasuredService } from '../load/measured-service.ts'
import { undoable } from '../load/undo.ts'

const PERSONA = personas(new Date().toISOString())[0]!
const ROOT = join(import.meta.dirname, '../..')
const BARE_SERVICE = join(import.meta.dirname, 'bare-service.ts')

/** Seconds from the start of a process to its first answered decision: on an empty folder, and again on the same one. */
interface StartTimes {
  first: number
  later: number
}

/** Ours also run the build for the first time, before anything of it has been compiled, and once more from source. */
interface OurStartTimes extends StartTimes {
  second: number
  fromSource: number
}

/** Measures how long it takes from the start of the process to the first answered decision, embedded. */
export async function runStart(effort: Effort): Promise<Measured> {
  const passes = effort.isQuick ? 1 : Math.min(effort.passes, 5)
  await buildServer()
  const ours: OurStartTimes[] = []
  const bare: StartTimes[] = []
  const prepared: number[] = []
  for (let pass = 0; pass < passes; pass++) {
    effort.say(`  pass ${pass + 1} of ${passes}`)
    const turns = [
      async () => ours.push(await timeOurs(effort)),
      async () => bare.push(await timeBare(pass)),
      async () => prepared.push(await timePrepared(pass)),
    ]
    for (const turn of pass % 2 === 0 ? turns : turns.reverse()) await turn()
  }
  const seconds = <Times extends StartTimes>(times: Times[], which: keyof Times) => ({
    unit: 's',
    better: 'lower' as const,
    values: times.map((time) => Number(time[which])),
  })
  return {
    series: {
      'first run': seconds(ours, 'first'),
      'later run': seconds(ours, 'later'),
      'second run': seconds(ours, 'second'),
      'later run from source': seconds(ours, 'fromSource'),
      'bare, first run': seconds(bare, 'first'),
      'bare, first run on a prepared database': { unit: 's', better: 'lower', values: prepared },
      'bare, later run': seconds(bare, 'later'),
    },
    notes: [
      'on the first run, ours creates three schemas, an organization, its key and its policy, then an entity and a decision about it; bare creates one table and inserts one row',
      'on the first run, ours unpacks the prepared database that PGlite publishes; bare runs initdb, which is the default of PGlite, and unpacks the same prepared database in a separate row',
      'ours puts off the optimization of the WebAssembly of PGlite until it is under load; bare has the defaults of V8',
      'for both, the compile cache of Node.js is empty on the first run and full on the later one',
      'ours runs from source on the first run and from its build on later ones, the check of the build included; the second run is the first one from the build, of which nothing is compiled yet',
    ],
  }
}

async function timeOurs({ isQuick }: Effort): Promise<OurStartTimes> {
  const cache = newFolder()
  const startedMs = performance.now()
  const service = await startMeasuredService('embedded', { NODE_COMPILE_CACHE: cache.path })
  try {
    const { id } = await service.post<{ id: string }>('/v1/entities', PERSONA.entity)
    const decide = (key: string) => service.post('/v1/underwrite', { entity_id: id, ...PERSONA.underwrite }, key)
    await decide('first')
    const first = secondsSince(startedMs)
    const timeAgain = async (which: string, findEntry: () => string | undefined) => {
      await service.pause()
      const restartedMs = performance.now()
      await service.resume(findEntry())
      await decide(which)
      return secondsSince(restartedMs)
    }
    const second = await timeAgain('second', builtEntry)
    const fromSource = await timeAgain('from-source', () => undefined)
    return { first, second, fromSource, later: await timeAgain('later', builtEntry) }
  } finally {
    await (isQuick ? service.stopForNext() : service.stop())
    await cache.remove()
  }
}

/** The program that `npm start` chooses once the server is built. */
function builtEntry(): string {
  const build = findBuild(ROOT)
  if ('whyNot' in build) throw new Error(build.whyNot)
  return join(build.folder, 'main.js')
}

async function timeBare(pass: number): Promise<StartTimes> {
  const [data, cache] = [newFolder(), newFolder()]
  try {
    const run = (which: string) => bareRun({ dataDir: data.path, cache: cache.path, id: `${which}-${pass}` })
    return { first: await run('first'), later: await run('later') }
  } finally {
    await data.remove()
    await cache.remove()
  }
}

/** Seconds of a first run that unpacks the prepared database, as ours does. */
async function timePrepared(pass: number): Promise<number> {
  const [data, cache] = [newFolder(), newFolder()]
  try {
    return await bareRun({ dataDir: data.path, cache: cache.path, id: `prepared-${pass}` }, 'prepared')
  } finally {
    await data.remove()
    await cache.remove()
  }
}

/** Creates an empty folder: for data, or for the compile cache, which is also empty at the first `npm start`. */
function newFolder() {
  const path = mkdtempSync(join(tmpdir(), 'verdigraph-bench-start-'))
  return { path, remove: undoable(async () => rmSync(path, { recursive: true, force: true })) }
}

async function bareRun(
  { dataDir, cache, id }: { dataDir: string; cache: string; id: string },
  ...more: string[]
): Promise<number> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [BARE_SERVICE, dataDir, ...more], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: cache },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = undoable(() => endProcess(child))
  try {
    const url = await readyUrl(child)
    const response = await fetch(`${url}/decisions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ id }),
    })
    if (!response.ok) throw new Error(`the bare service answered with status ${response.status}`)
    await response.json()
    return secondsSince(startedMs)
  } finally {
    await stop()
  }
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout!.on('data', (chunk) => {
      output += chunk
      const url = /ready on (\S+)\n/.exec(output)?.[1]
      if (url) resolve(url)
    })
    child.once('exit', () => reject(new Error('the bare service did not start')))
  })
}

function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / 1000
}
