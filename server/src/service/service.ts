import { createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { type Config, type Environment, ROLES, type Role } from '../config.ts'
import type { DispatcherTimings } from '../webhooks/dispatcher.ts'
import { enterInstallation, type Installation, openInstallation } from './installation.ts'

/** How long a shutdown waits for requests that were begun. */
const DRAIN_MAX_MS = 10_000

/** A running service. */
export interface Service {
  installation: Installation
  /** What a first start has to tell; undefined on later starts. */
  firstRunText: string | undefined
  /** Where the listeners really are; differs from the settings when a port was given as 0. */
  urls: { console?: string } & Partial<Record<Environment, string>>
  /** Stops accepting, finishes what was begun, writes everything down, and closes. */
  close(): Promise<void>
}

/** What starting a service needs besides its settings. */
export interface ServiceOptions {
  logger: Logger
  roles?: readonly Role[]
  nowMs?: () => number
  /** Shorter waits, for tests that cannot wait for days. */
  webhookTimings?: Partial<DispatcherTimings>
}

/** What is to be ended when the service is closed: listeners first and at once, all else one by one, the last opened first. */
export interface Running {
  listeners: FastifyInstance[]
  closers: (() => Promise<unknown>)[]
}

/** Opens the installation, starts all its parts, and closes them in the right order. */
export async function startService(
  config: Config,
  { logger, roles = ROLES, nowMs = Date.now, webhookTimings = {} }: ServiceOptions,
): Promise<Service> {
  const running: Running = { listeners: [], closers: [] }
  const close = async () => {
    await Promise.all(running.listeners.splice(0).map(stopListening))
    while (running.closers.length > 0) await running.closers.pop()!()
  }
  try {
    await requirePorts(config, roles)
    // The embedded database opens in a thread of its own, while the modules load and the parts are put together.
    const opening = openInstallation(config, { nowMs })
    const loading = import('./service-parts.ts')
    loading.catch(() => {}) // if the installation cannot be opened, that is what there is to tell
    const installation = await opening
    running.closers.push(() => installation.close())
    const { assembleParts } = await loading
    const start = await assembleParts(installation, { logger, roles, webhookTimings, running })
    const applied = await installation.storage.migrate()
    if (applied.length > 0) logger.info({ applied }, 'the database is up to date')
    await enterInstallation(installation)
    return { installation, ...(await start()), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Stops accepting and waits for what was begun; a client that never finishes its request is not waited for. */
async function stopListening(app: FastifyInstance): Promise<void> {
  const patience = setTimeout(() => app.server.closeAllConnections(), DRAIN_MAX_MS)
  await app.close()
  clearTimeout(patience)
}

/** Looks at the ports before anything is created, so that a start that cannot succeed leaves nothing behind. */
async function requirePorts({ host, ports }: Config, roles: readonly Role[]): Promise<void> {
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
