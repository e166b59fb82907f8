import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { freePorts } from '../../server/tests/service-process.ts'
import { endProcess } from '../load/measured-service.ts'
import { undoable } from '../load/undo.ts'

/** The running naive service. */
export interface NaiveProcess {
  port: number
  stop(): Promise<void>
}

/** Starts the naive service on the database of a measured one. */
export async function startNaive({
  databaseUrl,
  key,
  factsFrom,
}: {
  databaseUrl: string
  key: string
  factsFrom: 'transactions' | 'sums'
}): Promise<NaiveProcess> {
  const { sandbox: port } = await freePorts()
  const child = spawn(process.execPath, [join(import.meta.dirname, 'naive-service.ts')], {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, PORT: String(port), API_KEY: key, FACTS_FROM: factsFrom },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = undoable(() => endProcess(child))
  const started = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => undefined)])
  if (started === undefined) throw new Error('the naive service did not start')
  return { port, stop }
}
