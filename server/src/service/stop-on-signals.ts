import type { EventEmitter } from 'node:events'
import type { Logger } from 'pino'
import type { Service } from './start-service.ts'

/** After this time, a shutdown counts as hung and the process exits. */
const CLOSE_WITHIN_MS = 30_000
/**
 * A supervisor that signals every process of the service reaches this one up to three times: directly, through npm, and
 * through the launcher. Repeated SIGTERMs are copies for this long.
 */
const COPIES_WITHIN_MS = 5_000

/** What `stopOnSignals` works with; tests pass a clock, signals and an exit of their own. */
export interface StopParts {
  logger: Logger
  drainMs: number
  signals?: EventEmitter
  nowMs?: () => number
  exit?: (code: number) => void
}

/**
 * Stops the service on SIGTERM and on SIGINT.
 *
 *     running  → draining  the first signal: `/readyz` answers 503, and requests are still served for `drainMs`
 *     draining → closing   no request is accepted any more; those that have begun are answered, and all is written
 *     closing  → exit 0    or exit 1, if closing fails or takes too long
 *     draining → exit 1    a second signal, also while closing
 */
export function stopOnSignals(
  service: Pick<Service, 'startDraining' | 'close'>,
  { logger, drainMs, signals = process, nowMs = () => performance.now(), exit = process.exit }: StopParts,
): void {
  let begunMs: number | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (begunMs === undefined) {
      begunMs = nowMs()
      logger.info({ signal, drain_ms: drainMs }, 'shutting down')
      service.startDraining()
      // A timer of zero would still accept the requests of one more turn of the event loop.
      if (drainMs > 0) setTimeout(close, drainMs)
      else close()
    } else if (signal === 'SIGINT' || nowMs() - begunMs > COPIES_WITHIN_MS) {
      logger.warn({ signal }, 'a second signal; exiting at once')
      exit(1)
    }
  }
  const close = () => {
    setTimeout(() => {
      logger.fatal('shutdown did not end in time; exiting')
      exit(1)
    }, CLOSE_WITHIN_MS).unref()
    service.close().then(
      () => exit(0),
      (error) => {
        logger.fatal({ err: error }, 'shutdown failed')
        exit(1)
      },
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT']) signals.on(signal, onSignal)
}
