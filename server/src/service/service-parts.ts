import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { Sealer } from '../audit/sealer.ts'
import { openCommandSocket } from '../cli/command-socket.ts'
import { ENVIRONMENTS, type Environment, type Role } from '../config.ts'
import { ConsequenceWorker } from '../consequences/consequence-worker.ts'
import { followNear } from '../consequences/follow-near.ts'
import { buildConsoleServer } from '../console/console-server.ts'
import { buildApiServer } from '../http/api-server.ts'
import { createAuthenticate } from '../http/authenticate.ts'
import { describeApi } from '../http/openapi.ts'
import { UsageMeter } from '../http/usage-meter.ts'
import { Metrics } from '../metrics/metrics.ts'
import { createRequestMeter, describeProcess } from '../metrics/process-metrics.ts'
import { createWebhookMeter } from '../metrics/webhook-metrics.ts'
import { hashIdentifier } from '../security/identifiers.ts'
import { WebhookSecretBox } from '../security/webhook-secret.ts'
import { ActivePolicies } from '../underwriting/active-policies.ts'
import { LiveGate } from '../underwriting/live-gate.ts'
import { Dispatcher, type DispatcherTimings } from '../webhooks/dispatcher.ts'
import { WebhookRetention } from '../webhooks/retention.ts'
import { firstRun } from './first-run.ts'
import type { Installation } from './installation.ts'
import type { Running, Service } from './service.ts'
import { startUpkeep } from './upkeep.ts'
import { VERSION } from './version.ts'

/** Long enough for whoever waited for the start to have an answer. */
const AFTER_FIRST_ANSWERS_MS = 2_000

/**
 * Puts all the parts of a service together, without reading anything yet, and returns the function that starts them.
 * This is the one place that knows every module.
 */
export async function assembleParts(
  installation: Installation,
  {
    logger,
    roles,
    webhookTimings,
    running,
  }: { logger: Logger; roles: readonly Role[]; webhookTimings: Partial<DispatcherTimings>; running: Running },
): Promise<() => Promise<Pick<Service, 'firstRunText' | 'urls'>>> {
  const { config, storage } = installation
  const { closers, listeners } = running
  const metrics = describeProcess(new Metrics(), installation)
  const parts = {
    installation,
    logger,
    metrics,
    measureRequests: createRequestMeter(metrics),
    measureWebhooks: createWebhookMeter(metrics, installation),
  }
  const apis = roles.includes('api') ? ENVIRONMENTS.map((name) => ({ name, app: buildApi(parts, name, closers) })) : []
  const consoleApp = roles.includes('console') ? buildConsole(parts) : undefined
  for (const app of [...apis.map(({ app }) => app), ...(consoleApp ? [consoleApp] : [])]) await app.ready()

  return async () => {
    const firstRunText = await firstRun(installation)
    if (storage.embedded) closers.push(await openCommandSocket(installation))
    if (roles.includes('worker')) {
      for (const environment of ENVIRONMENTS)
        closers.push(
          startSealer(parts, environment),
          startConsequenceWorker(parts, environment),
          startDispatcher(parts, environment, webhookTimings),
          startRetention(parts, environment),
        )
      closers.push(startUpkeep(installation, (error) => logger.error({ err: error }, 'upkeep failed')))
    }
    const listen = (app: FastifyInstance, port: number) => {
      listeners.push(app)
      return app.listen({ host: config.host, port })
    }
    const urls: Service['urls'] = {}
    for (const { name, app } of apis) urls[name] = await listen(app, config.ports[name])
    if (consoleApp) urls.console = await listen(consoleApp, config.ports.console)
    const later = setTimeout(() => loadTheRest({ installation, roles, logger }), AFTER_FIRST_ANSWERS_MS).unref()
    closers.push(async () => clearTimeout(later))
    return { firstRunText, urls }
  }
}

/** Loads what no start has to wait for, but soon: later, the files may be of another release. */
function loadTheRest({
  installation,
  roles,
  logger,
}: {
  installation: Installation
  roles: readonly Role[]
  logger: Logger
}): void {
  const rest = [
    ...(roles.includes('worker') ? [loadSafeAgent()] : []),
    ...(installation.storage.embedded ? [loadCommands()] : []),
  ]
  for (const loading of rest)
    loading.catch((error) => logger.error({ err: error }, 'a part of the service could not be loaded'))
}

const loadSafeAgent = () => import('../webhooks/safe-agent.ts')
const loadCommands = () => import('../cli/commands.ts')

interface Parts {
  installation: Installation
  logger: Logger
  metrics: Metrics
  measureRequests: ReturnType<typeof createRequestMeter>
  measureWebhooks: ReturnType<typeof createWebhookMeter>
}

function buildApi(
  { installation, logger, measureRequests }: Parts,
  environment: Environment,
  closers: Running['closers'],
): FastifyInstance {
  const { config, stores, masterKey, newId, nowMs } = installation
  const store = stores[environment]
  const usage = new UsageMeter({
    store,
    nowMs,
    onError: (error) => logger.error({ err: error }, 'usage could not be written'),
  })
  const gate = new LiveGate({ control: installation.storage.control, nowMs })
  const identifierKey = masterKey.deriveHmacKey(`identifiers ${environment}`)
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
      // The change is durable; should this fail, the worker follows up on it all the same.
      follow: (organizationId, near) =>
        // The time of this read, not of the request: whoever reads later knows more.
        followNear(store, organizationId, near, new Date(nowMs()).toISOString()).catch((error) =>
          logger.warn({ err: error, environment }, 'the worker will follow up'),
        ),
      hashIdentifier: (identifier) => hashIdentifier(identifierKey, identifier),
    },
    authenticate: createAuthenticate({ environment, baseUrls: config.baseUrls, apiKeyByHash: store.apiKeyByHash }),
    usage,
    fingerprintKey: masterKey.deriveHmacKey(`fingerprints ${environment}`),
    openapi: describeApi({ version: VERSION, servers: { [environment]: config.baseUrls[environment] } }),
    logger: logger.child({ environment }),
    nowMs,
  })
  measureRequests(app, environment)
  closers.push(() => usage.close())
  return app
}

function buildConsole({ installation, logger, metrics }: Parts): FastifyInstance {
  const { config, storage } = installation
  const databases = [storage.control, ...Object.values(storage.environments)]
  const ready = () => Promise.all(databases.map((database) => database.query('SELECT 1')))
  return buildConsoleServer({ config, logger, metrics, ready })
}

function startConsequenceWorker({ installation, logger }: Parts, environment: Environment): () => Promise<void> {
  const { storage, stores, newId, nowMs } = installation
  const store = stores[environment]
  const worker = new ConsequenceWorker({
    database: storage.environments[environment],
    store,
    policies: new ActivePolicies({ store, nowMs }),
    newId,
    nowMs,
    onError: (error) => logger.error({ err: error, environment }, 'consequences could not be followed'),
  })
  worker.start()
  return () => worker.close()
}

function startSealer({ installation, logger }: Parts, environment: Environment): () => Promise<void> {
  const { storage, stores, masterKey, newId, nowMs } = installation
  const sealer = new Sealer({
    environment,
    database: storage.environments[environment],
    store: stores[environment],
    signingKey: masterKey.auditSigningKey(environment),
    newId,
    nowMs,
    onError: (error) => logger.error({ err: error, environment }, 'audit entries could not be sealed'),
  })
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
    secrets: new WebhookSecretBox(masterKey.derive(`webhook secrets ${environment}`)),
    agentFor: async (timeoutMs) => (await loadSafeAgent()).createSafeAgent({ allowLoopback, timeoutMs }),
    userAgent: `Verdigraph/${VERSION}`,
    newId,
    nowMs,
    onError: (error) => logger.error({ err: error, environment }, 'webhooks could not be sent'),
    onDisabled: (endpoint) => {
      logger.warn({ ...endpoint, environment }, 'a webhook endpoint was disabled')
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

function startRetention({ installation, logger }: Parts, environment: Environment): () => Promise<void> {
  const { config, storage, stores, nowMs } = installation
  const retention = new WebhookRetention({
    database: storage.environments[environment],
    store: stores[environment],
    keepMs: config.webhooksKeepDays * 86_400_000,
    nowMs,
    onError: (error) => logger.error({ err: error, environment }, 'old deliveries could not be removed'),
  })
  retention.start()
  return () => retention.close()
}
