import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import { buildApiServer } from '../api/api-server.ts'
import { createAuthenticate } from '../api/authenticate.ts'
import { describeApi } from '../api/openapi/openapi.ts'
import { UsageMeter } from '../api/usage-meter.ts'
import { Sealer } from '../audit/sealer.ts'
import { openCommandSocket } from '../cli/command-socket.ts'
import { ENVIRONMENTS, type Environment, type Role } from '../config.ts'
import { ConsequenceWorker } from '../consequences/consequence-worker.ts'
import { ExposureRefresher } from '../consequences/exposure-refresher.ts'
import { buildConsoleServer, type ConsoleServer } from '../console/console-server.ts'
import { loadOperations } from '../console/operation-api.ts'
import { Admission } from '../http/admission.ts'
import { compileAll } from '../http/compile-later.ts'
import { TrustedProxies } from '../http/trusted-proxies.ts'
import { type Installation, verifyMasterKey } from '../installation/installation.ts'
import { createAuditMeter } from '../metrics/audit-metrics.ts'
import { createDecisionMeter, createRequestMeter, registerProcessMetrics } from '../metrics/process-metrics.ts'
import { registerCalibration, registerUpkeep } from '../metrics/upkeep-metrics.ts'
import { createWebhookMeter } from '../metrics/webhook-metrics.ts'
import { hashReference } from '../security/hash-reference.ts'
import { accountKey, hashIdentifier } from '../security/identifiers.ts'
import { WebhookSecretBox } from '../security/webhook-secret.ts'
import { ActivePolicies } from '../underwriting/active-policies.ts'
import { LiveGate } from '../underwriting/live-gate.ts'
import { VERSION } from '../version.ts'
import { Dispatcher, type DispatcherTimings } from '../webhooks/dispatcher.ts'
import type { DatabaseHealth } from './database-health.ts'
import { firstRun } from './first-run.ts'
import { Listener } from './listener.ts'
import { logErrors } from './log.ts'
import { Readiness } from './readiness.ts'
import { Upkeep } from './upkeep.ts'
import { controlUpkeepTasks, upkeepTasks } from './upkeep-tasks.ts'
import { calibrationTask } from './watch-calibration.ts'
import { watchDatabases, watchLogs } from './watch-databases.ts'
import { applyAllErasures, type WatchedErasures, watchErasures } from './watch-erasures.ts'

/** Leaves the first seconds to requests that were waiting for the start. */
const DEFERRED_WORK_AFTER_MS = 2_000

/** What `close` ends: all listeners at once, then the closers one by one, last opened first. */
export interface RunningParts {
  listeners: Listener[]
  closers: (() => Promise<unknown>)[]
}

/** What a started service reports. */
export interface Started {
  /** The text with the first API key, on the first start only. */
  firstRunText: string | undefined
  /** The addresses of the listeners; they differ from the settings where a port is 0. */
  urls: { console?: string } & Partial<Record<Environment, string>>
  /** Makes `/readyz` answer 503 from now on, while requests are still served. */
  startDraining(): void
}

/**
 * The composition root: the one function that knows every module. It builds all parts while the database is prepared, and
 * starts them after that.
 *
 * It is apart from `startService` so that its imports load while the embedded database opens in its own thread.
 */
export async function assembleService(
  installation: Installation,
  {
    logger,
    roles,
    webhookTimings,
    running,
    buildsPage,
  }: {
    logger: Logger
    roles: readonly Role[]
    webhookTimings: Partial<DispatcherTimings>
    running: RunningParts
    buildsPage: boolean
  },
): Promise<Started> {
  const { config, storage } = installation
  const { closers, listeners } = running
  const metrics = new Registry()
  registerProcessMetrics(metrics, installation)
  installation.refusedRows.onRefused((row) =>
    logger.error(
      { ...row, alarm: 'row_refused' },
      'a row that grants power and that this service did not write so was refused',
    ),
  )
  const measureAudit = createAuditMeter(metrics)
  const logsBehind = watchLogs(installation, { logger, measureAudit })
  const erasures = watchErasures(installation, logger)
  const health = watchDatabases(installation, { logger, metrics, logsBehind, erasures })
  closers.push(() => health.close())
  const applied = await storage.migrate()
  if (applied.length > 0) logger.info({ applied }, 'database migrated')
  const preparing = prepareStart(installation, { health, erasures })
  // Awaited below, unless a part cannot be built; then the databases are closed after it has ended.
  const prepared = preparing.catch(() => {})
  closers.push(() => prepared)
  const parts = {
    installation,
    logger,
    metrics,
    readiness: new Readiness(
      async () => (await health.check()) ?? erasures.sandbox.problem ?? erasures.production.problem,
      () => ENVIRONMENTS.flatMap((name) => logsBehind[name].warnings()),
    ),
    admission: new Admission(),
    measureRequests: createRequestMeter(metrics),
    countDecision: createDecisionMeter(metrics),
    measureWebhooks: createWebhookMeter(metrics, installation),
    measureAudit,
    noteUpkeep: registerUpkeep(metrics),
    noteCalibration: registerCalibration(metrics),
    sealers: new Map<Environment, Sealer>(),
  }
  const servers = await buildServers(parts, { roles, closers, buildsPage })
  const firstRunText = await preparing
  health.start()
  if (storage.embedded) closers.push(await openCommandSocket(installation))
  if (roles.includes('worker')) for (const name of ENVIRONMENTS) startWorkers(parts, name, { webhookTimings, closers })
  const listen = (listener: Listener, port: number) => {
    listeners.push(listener)
    return listener.listen({ host: config.host, port })
  }
  const urls: Started['urls'] = {}
  for (const { name, listener } of servers.apis) urls[name] = await listen(listener, config.ports[name])
  if (servers.console) urls.console = await listen(servers.console.listener, config.ports.console)
  if (buildsPage) servers.console?.page.start()
  const timer = setTimeout(() => finishLoading({ installation, roles, logger }), DEFERRED_WORK_AFTER_MS).unref()
  closers.push(async () => clearTimeout(timer))
  return { firstRunText, urls, startDraining: () => parts.readiness.startDraining() }
}

/** Checks the master key and completes what is unfinished; returns the text of a first start. */
async function prepareStart(
  installation: Installation,
  { health, erasures }: { health: DatabaseHealth; erasures: Record<Environment, WatchedErasures> },
): Promise<string | undefined> {
  // Checked in this order, so that a rotation of the master key that begins meanwhile sees this node, or is seen by it. A
  // database that takes no heartbeat now does not end the start: reads can be served, and the checks go on. A rotation reads
  // the heartbeats of this database alone; the others are checked once the service answers.
  await health.checkOnly('control')
  await verifyMasterKey(installation)
  const firstRunText = await firstRun(installation)
  // What a node that stopped has left: rows that it changed are refused until their entries are recorded.
  await installation.storage.control.recordQueued()
  await applyAllErasures(erasures)
  return firstRunText
}

/** Builds the HTTP servers, each in its own turn of the event loop: in between, the database gets its next statement. */
async function buildServers(
  parts: Parts,
  { roles, closers, buildsPage }: { roles: readonly Role[]; closers: RunningParts['closers']; buildsPage: boolean },
) {
  const ready = async (app: FastifyInstance) => {
    const listener = new Listener(app)
    await listener.ready()
    await nextTurn()
    return listener
  }
  await nextTurn()
  const apis: { name: Environment; listener: Listener }[] = []
  if (roles.includes('api'))
    for (const name of ENVIRONMENTS) apis.push({ name, listener: await ready(buildApi(parts, name, closers)) })
  if (!roles.includes('console')) return { apis }
  const { app, page } = buildConsole(parts, buildsPage)
  closers.push(() => page.close())
  return { apis, console: { page, listener: await ready(app) } }
}

function startWorkers(
  parts: Parts,
  environment: Environment,
  { webhookTimings, closers }: { webhookTimings: Partial<DispatcherTimings>; closers: RunningParts['closers'] },
): void {
  closers.push(
    startSealer(parts, environment),
    startConsequenceWorker(parts, environment),
    startDispatcher(parts, environment, webhookTimings),
    startUpkeep(parts, environment),
  )
}

/**
 * Loads the modules and compiles the schemas that no start waits for. Modules are loaded soon rather than on first use,
 * because an upgrade may replace the files of a running process.
 */
function finishLoading({
  installation,
  roles,
  logger,
}: {
  installation: Installation
  roles: readonly Role[]
  logger: Logger
}): void {
  const parts = [
    ...(roles.includes('api') ? [compileAll()] : []),
    ...(roles.includes('worker') ? [loadSafeAgent()] : []),
    ...(roles.includes('console') ? [loadOperations()] : []),
    ...(installation.storage.embedded ? [loadCommands()] : []),
  ]
  for (const loading of parts) loading.catch((error) => logger.error({ err: error }, 'a part could not be loaded'))
}

const loadSafeAgent = () => import('../webhooks/safe-agent.ts')
const loadCommands = () => import('../cli/commands.ts')

interface Parts {
  installation: Installation
  logger: Logger
  metrics: Registry
  readiness: Readiness
  /** Shared by all ports of this process. */
  admission: Admission
  measureRequests: ReturnType<typeof createRequestMeter>
  countDecision: ReturnType<typeof createDecisionMeter>
  measureWebhooks: ReturnType<typeof createWebhookMeter>
  measureAudit: ReturnType<typeof createAuditMeter>
  noteUpkeep: ReturnType<typeof registerUpkeep>
  noteCalibration: ReturnType<typeof registerCalibration>
  /** The sealers of this process, which readers of unsealed entries ask for a head. */
  sealers: Map<Environment, Sealer>
}

function buildApi(
  { installation, logger, readiness, admission, measureRequests, countDecision, sealers }: Parts,
  environment: Environment,
  closers: RunningParts['closers'],
): FastifyInstance {
  const { config, stores, masterKey, newId, nowMs } = installation
  const store = stores[environment]
  const usage = new UsageMeter({
    store,
    nowMs,
    onError: logErrors(logger, 'usage flush failed'),
    onDecided: (verdict) => countDecision(environment, verdict),
  })
  const refresher = new ExposureRefresher({ store, nowMs })
  const gate = new LiveGate({ control: installation.storage.control, nowMs })
  const identifierKey = masterKey.deriveLasting(`identifiers ${environment}`)
  const app = buildApiServer({
    environment,
    tools: {
      environment,
      store,
      policies: new ActivePolicies({ store, nowMs }),
      newId,
      rateLimit: config.rateLimit,
      readClock: () => new Date(nowMs()).toISOString(),
      isLive: environment === 'sandbox' ? async () => true : (organizationId) => gate.isOpen(organizationId),
      refreshBeforeReply: (organizationId, refresh) =>
        refresher.refresh(organizationId, refresh).catch((error) =>
          // The change is durable, and the consequence worker repeats this refresh.
          logger.warn({ err: error, environment }, 'exposure refresh failed; left to the consequence worker'),
        ),
      hashIdentifier: (identifier) => hashIdentifier(identifierKey, identifier),
      hashReference: (named) => hashReference(masterKey, { environment, ...named }),
      accountKey: (account) => accountKey(identifierKey, account),
      requestSeal: (organizationId) => sealers.get(environment)?.request(organizationId),
    },
    authenticate: createAuthenticate({
      environment,
      baseUrls: config.baseUrls,
      hashKey: masterKey.apiKeyHashKey(environment),
      apiKeyByHash: store.apiKeys.byHash,
    }),
    admission,
    usage,
    fingerprintKey: masterKey.deriveLasting(`fingerprints ${environment}`),
    openapi: describeApi({ version: VERSION, servers: { [environment]: config.baseUrls[environment] } }),
    proxies: new TrustedProxies(config.trustedProxies),
    readiness,
    logger: logger.child({ environment }),
    nowMs,
  })
  measureRequests(app, environment)
  closers.push(() => usage.close())
  return app
}

function buildConsole(
  { installation, logger, admission, metrics, readiness }: Parts,
  buildsPage: boolean,
): ConsoleServer {
  return buildConsoleServer({ installation, logger, admission, metrics, readiness, buildsPage })
}

function startConsequenceWorker(
  { installation, logger, admission }: Parts,
  environment: Environment,
): () => Promise<void> {
  const { storage, stores, newId, nowMs } = installation
  const store = stores[environment]
  const worker = new ConsequenceWorker({
    database: storage.environments[environment],
    store,
    policies: new ActivePolicies({ store, nowMs }),
    newId,
    nowMs,
    turn: (organizationId) => admission.turn(organizationId),
    onError: logErrors(logger, 'consequence round failed', { environment }),
  })
  worker.start()
  return () => worker.close()
}

function startSealer(
  { installation, logger, measureAudit, sealers }: Parts,
  environment: Environment,
): () => Promise<void> {
  const { storage, stores, masterKey, knownHeads, knownErasures, newId, nowMs } = installation
  const meter = measureAudit(environment)
  const sealer = new Sealer({
    environment,
    database: storage.environments[environment],
    store: stores[environment],
    keys: masterKey.sealingKeys(environment),
    knownHeads: knownHeads[environment],
    knownErasures: knownErasures[environment],
    newId,
    nowMs,
    onError: logErrors(logger, 'sealing failed', { environment }),
    onRefused({ org_id, entry_ids }) {
      const line = { alarm: 'audit_entry_refused', organization_id: org_id, audit_entry_ids: entry_ids, environment }
      logger.error(line, 'audit entries that this service did not write were not sealed')
      meter.onRefused(entry_ids.length)
    },
  })
  sealers.set(environment, sealer)
  sealer.start()
  return () => sealer.close()
}

function startDispatcher(
  { installation, logger, measureWebhooks }: Parts,
  environment: Environment,
  timings: Partial<DispatcherTimings>,
): () => Promise<void> {
  const { config, stores, masterKey, newId, nowMs } = installation
  const allowLoopback = environment === 'sandbox' && config.webhooksAllowLoopback
  const meter = measureWebhooks(environment)
  const dispatcher = new Dispatcher({
    rules: { environment, allowLoopback },
    store: stores[environment],
    secrets: new WebhookSecretBox([masterKey.derive(`webhook secrets ${environment}`)]),
    agentFor: async (timeoutMs) => (await loadSafeAgent()).createSafeAgent({ allowLoopback, timeoutMs }),
    userAgent: `Verdigraph/${VERSION}`,
    newId,
    nowMs,
    onError: logErrors(logger, 'webhook dispatch failed', { environment }),
    onDisabled: ({ organizationId, endpointId, why }) => {
      const line = { organization_id: organizationId, endpoint_id: endpointId, why, environment }
      logger.warn(line, 'webhook endpoint disabled')
      meter.onDisabled()
    },
    onAttempt: meter.onAttempt,
    onLeasesLost: meter.onLeasesLost,
    timings,
  })
  meter.watch(dispatcher)
  dispatcher.start()
  return () => dispatcher.close()
}

function startUpkeep(parts: Parts, environment: Environment): () => Promise<void> {
  const { installation, logger, noteUpkeep, noteCalibration: note } = parts
  const { config, storage, stores, newId, nowMs } = installation
  const database = storage.environments[environment]
  const isEmbedded = storage.embedded
  const upkeep = new Upkeep({
    database,
    tasks: [
      ...upkeepTasks({ store: stores[environment], database, newId, keepDays: config.keepDays, isEmbedded }),
      calibrationTask({ installation, environment, logger, note }),
      ...(environment === 'production' ? controlUpkeepTasks({ control: storage.control, isEmbedded }) : []),
    ],
    nowMs,
    onError: logErrors(logger, 'upkeep failed', { environment }),
    onDone: () => noteUpkeep(environment, nowMs()),
  })
  upkeep.start()
  return () => upkeep.close()
}
