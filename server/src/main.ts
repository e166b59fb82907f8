import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readConfig, readRoles } from './config.ts'
import { explainFailure } from './service/explain-failure.ts'
import { openLog } from './service/log.ts'
import { startService } from './service/start-service.ts'
import { databaseFolder, holdsDatabase } from './store/database/database-folder.ts'

/** A shutdown that takes longer than this has hung. */
const SHUTDOWN_MAX_MS = 30_000

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { roles: { type: 'string' } } })
  const config = readConfig(process.env)
  const roles = readRoles(values.roles)
  const logger = openLog(config.logLevel)

  const stopProgress =
    config.databaseUrls || holdsDatabase(databaseFolder(config.dataDir))
      ? () => {}
      : showProgress('Creating the embedded database')
  const service = await startService(config, { logger, roles }).finally(stopProgress)

  let isShuttingDown = false
  const shutDown = (signal: NodeJS.Signals) => {
    if (isShuttingDown) return
    isShuttingDown = true
    logger.info({ signal }, 'shutting down')
    setTimeout(() => {
      logger.fatal('the shutdown has hung')
      process.exit(1)
    }, SHUTDOWN_MAX_MS).unref()
    service.close().then(
      () => process.exit(0),
      (error) => {
        logger.fatal({ err: error }, 'the shutdown failed')
        process.exit(1)
      },
    )
  }
  // A supervisor that signals a whole group reaches us twice: once itself, and once through what started us.
  process.on('SIGTERM', shutDown)
  // A second Ctrl-C is from somebody who does not want to wait.
  process.once('SIGINT', shutDown)

  const { firstRunText, urls } = service
  if (firstRunText)
    console.log(`\n${firstRunText}\nKept in ${join(config.dataDir, 'first-run.txt')}; the key is not shown again.\n`)
  logger.info({ ...urls, storage: config.databaseUrls ? 'postgresql' : 'embedded' }, 'ready')
}

/** Shows on a terminal that something is going on; writes one line where there is none. */
function showProgress(what: string): () => void {
  const started = Date.now()
  if (!process.stderr.isTTY) {
    console.error(`${what} …`)
    return () => console.error(`${what}: done in ${((Date.now() - started) / 1000).toFixed(1)} s`)
  }
  const timer = setInterval(
    () => process.stderr.write(`\r${what} … ${Math.round((Date.now() - started) / 1000)} s`),
    250,
  )
  return () => {
    clearInterval(timer)
    process.stderr.write('\n')
  }
}

main().catch((error) => {
  console.error(explainFailure(error))
  process.exit(1)
})
