import { createServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Config, ROLES, type Role } from '../config.ts'
import { type Installation, openInstallation } from '../installation/installation.ts'
import type { DispatcherTimings } from '../webhooks/dispatcher.ts'
import type { RunningParts, Started } from './assemble-service.ts'
import { tightenDataFolder } from './tighten-data-folder.ts'

/** How long a shutdown waits for clients to finish the requests that they have begun. */
const FINISH_WITHIN_MS = 10_000

/** A running service. */
export interface Service extends Started {
  installation: Installation
  /** Stops accepting connections, finishes requests in flight, flushes all writes, and closes the databases. */
  close(): Promise<void>
}

/** What starting a service needs besides its settings. */
export interface ServiceOptions {
  logger: Logger
  roles?: readonly Role[]
  /** The clock of a test, instead of the machine's. */
  nowMs?: () => number
  /** The machine's clock, which is corrected to the database's. */
  systemMs?: () => number
  /** Shorter delays, for tests that cannot wait for days. */
  webhookTimings?: Partial<DispatcherTimings>
  /** Less patience with clients at a shutdown, for tests. */
  finishWithinMs?: number
  /** Builds the page of the console if its sources have changed; `npm start` does. */
  buildsPage?: boolean
  /** Builds the server for the next start; `npm start` does when it runs from source. */
  buildsServer?: boolean
}

/** Opens the installation, starts every part of the service, and closes them in reverse order. */
export async function startService(
  config: Config,
  {
    logger,
    roles = ROLES,
    nowMs,
    systemMs = Date.now,
    webhookTimings = {},
    finishWithinMs = FINISH_WITHIN_MS,
    buildsPage = false,
    buildsServer = false,
  }: ServiceOptions,
): Promise<Service> {
  const running: RunningParts = { listeners: [], closers: [] }
  const close = async () => {
    await Promise.all(running.listeners.splice(0).map((listener) => listener.stop(finishWithinMs)))
    while (running.closers.length > 0) await running.closers.pop()!()
  }
  try {
    await requireFreePorts(config, roles)
    const tightened = tightenDataFolder(config.dataDir)
    if (tightened.length > 0)
      logger.warn({ tightened }, 'other users had access to these paths and no longer have; their secrets may be known')
    const opening = openInstallation(config, { nowMs, systemMs })
    // The embedded database opens in its own thread while this thread loads and assembles everything else. It creates that
    // thread in this turn of the event loop; an import would come before it, and take a fifth of a second.
    const loading = nextTurn().then(() => import('./assemble-service.ts'))
    loading.catch(() => {}) // awaited below, unless the installation fails to open first
    const installation = await opening
    running.closers.push(() => installation.close())
    const { assembleService } = await loading
    const started = await assembleService(installation, { logger, roles, webhookTimings, running, buildsPage })
    installation.storage.endStart()
    if (buildsServer) {
      const { buildServerForNextStart } = await import('../build/server-build.ts')
      running.closers.push(buildServerForNextStart(logger))
    }
    return { installation, ...started, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Probes the ports before anything is created, so that a start that must fail leaves no files or tables behind. */
async function requireFreePorts({ host, ports }: Config, roles: readonly Role[]): Promise<void> {
  const wanted = [
    ...(roles.includes('console') ? [ports.console] : []),
    ...(roles.includes('api') ? [ports.sandbox, ports.production] : []),
  ]
  for (const port of wanted.filter((number) => number > 0)) {
    const probe = createServer()
    await new Promise<void>((resolve, reject) =>
      probe.once('error', reject).listen({ host, port, exclusive: true }, resolve),
    )
    await new Promise((resolve) => probe.close(resolve))
  }
}
