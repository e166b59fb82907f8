import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Config, readConfig, readRoles } from './config.ts'
import { explainFailure } from './service/explain-failure.ts'
import { openLog } from './service/log.ts'
import { type Service, startService } from './service/start-service.ts'
import { databaseFolder, holdsDatabase } from './store/database/database-folder.ts'
import { hasOwner } from './store/queries/first-link.ts'
import { firstOrganizationId } from './store/queries/organizations.ts'

/** After this time, a shutdown counts as hung and the process exits. */
const SHUTDOWN_MAX_MS = 30_000

async function main(): Promise<void> {
  // A file that is created without a mode is for its owner only.
  process.umask(0o077)
  const { values } = parseArgs({ options: { roles: { type: 'string' }, 'build-page': { type: 'boolean' } } })
  const config = readConfig(process.env)
  const roles = readRoles(values.roles)
  const logger = openLog(config.logLevel)

  const stopProgress =
    config.databaseUrls || holdsDatabase(databaseFolder(config.dataDir))
      ? () => {}
      : showProgress('Creating the embedded database')
  const service = await startService(config, { logger, roles, buildsPage: values['build-page'] ?? false }).finally(
    stopProgress,
  )

  let isShuttingDown = false
  const shutDown = (signal: NodeJS.Signals) => {
    if (isShuttingDown) return
    isShuttingDown = true
    logger.info({ signal }, 'shutting down')
    setTimeout(() => {
      logger.fatal('shutdown did not end in time; exiting')
      process.exit(1)
    }, SHUTDOWN_MAX_MS).unref()
    service.close().then(
      () => process.exit(0),
      (error) => {
        logger.fatal({ err: error }, 'shutdown failed')
        process.exit(1)
      },
    )
  }
  // Repeated SIGTERMs are ignored: a supervisor that signals the process group reaches this process twice, directly and
  // through its parent.
  process.on('SIGTERM', shutDown)
  // Only the first SIGINT is handled, so that a second Ctrl-C ends the process at once.
  process.once('SIGINT', shutDown)

  const { firstRunText, urls } = service
  if (firstRunText)
    console.log(
      `\n${firstRunText}\nSaved in ${join(config.dataDir, 'first-run.txt')}; the key and the link are not shown again.\n`,
    )
  logger.info({ ...urls, storage: config.databaseUrls ? 'postgresql' : 'embedded' }, 'ready')
  if (!firstRunText && urls.console) console.error(await consoleLines(service, config))
}

/** Where the console is, for people who start the service again; and how to get in while it has no owner. */
async function consoleLines({ installation, urls }: Service, { ports, baseUrls, dataDir }: Config): Promise<string> {
  const { control } = installation.storage
  const lines = [`Console            ${ports.console === 0 ? urls.console : baseUrls.console}`]
  if (!(await hasOwner(control, await firstOrganizationId(control))))
    lines.push(
      `First sign-in      by the link in ${join(dataDir, 'first-run.txt')}; npm run cli -- operators first-link makes a new one`,
    )
  return lines.join('\n')
}

/** Shows the seconds that a task takes on a terminal, or a line at its start and its end elsewhere; returns its end. */
function showProgress(task: string): () => void {
  const started = Date.now()
  if (!process.stderr.isTTY) {
    console.error(`${task} …`)
    return () => console.error(`${task}: done in ${((Date.now() - started) / 1000).toFixed(1)} s`)
  }
  const timer = setInterval(
    () => process.stderr.write(`\r${task} … ${Math.round((Date.now() - started) / 1000)} s`),
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
