import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { LogsBehind } from '../audit/logs-behind.ts'
import type { Environment } from '../config.ts'
import { nodeId } from '../ids/node-id.ts'
import type { Installation } from '../installation/installation.ts'
import type { AuditMeter } from '../metrics/audit-metrics.ts'
import { registerDurability } from '../metrics/database-metrics.ts'
import { ClockSkew } from './clock-skew.ts'
import { DatabaseHealth } from './database-health.ts'
import { logErrors } from './log.ts'
import type { WatchedErasures } from './watch-erasures.ts'

/** Compares the logs of both environments with the heads that this node knows. */
export function watchLogs(
  { stores, knownHeads }: Installation,
  { logger, measureAudit }: { logger: Logger; measureAudit: (environment: Environment) => AuditMeter },
): Record<Environment, LogsBehind> {
  const watch = (environment: Environment) =>
    new LogsBehind({
      environment,
      store: stores[environment],
      knownHeads: knownHeads[environment],
      onCompared: measureAudit(environment).onCompared,
      onError: logErrors(logger, 'comparing the logs with known heads failed', { environment }),
    })
  return { sandbox: watch('sandbox'), production: watch('production') }
}

/** Watches whether the databases serve requests, what their commits wait for, their clocks, and the ends of their logs. */
export function watchDatabases(
  { storage, clock }: Installation,
  {
    logger,
    metrics,
    logsBehind,
    erasures,
  }: {
    logger: Logger
    metrics: Registry
    logsBehind: Record<Environment, LogsBehind>
    erasures: Record<Environment, WatchedErasures>
  },
): DatabaseHealth {
  const measureDurability = registerDurability(metrics, storage)
  const skew = new ClockSkew({
    onSkewed: (database, skewMs) =>
      logger.warn({ database, skew_ms: Math.round(skewMs) }, 'the clock of this machine differs from the database’s'),
    onAgreeing: (database) => logger.info({ database }, 'the clock of this machine agrees with the database’s'),
  })
  skew.register(metrics)
  return new DatabaseHealth({
    clock,
    onClockMeasured(database, offset) {
      skew.note(database, offset)
      // One reference for all three: an environment on another server may have another clock.
      if (database === 'control' && !storage.embedded) clock.correct(offset)
    },
    onDurabilityFound(database, durability) {
      measureDurability(database, durability)
      if (database === 'control') return
      void logsBehind[database as Environment].compareOn(durability.timeline)
      void erasures[database as Environment].lookOn(durability.timeline)
    },
    databases: { control: storage.control, ...storage.environments },
    node: nodeId,
    onProblem: (database, problem) => logger.error({ database, problem }, 'the database cannot serve requests'),
    onRecovery: (database) => logger.info({ database }, 'the database serves requests again'),
  })
}
