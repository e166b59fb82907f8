import { parseArgs } from 'node:util'
import { readConfig, readRoles } from './config.ts'
import { openLog } from './service/log.ts'
import { logWarningsAndCrash, reportFailure, reportStart, showProgress } from './service/start-report.ts'
import { startService } from './service/start-service.ts'
import { stopOnSignals } from './service/stop-on-signals.ts'
import { databaseFolder, holdsDatabase } from './store/database/database-folder.ts'

async function main(): Promise<void> {
  // A file that is created without a mode is for its owner only.
  process.umask(0o077)
  const { values } = parseArgs({
    options: {
      roles: { type: 'string' },
      // Those of `npm start`: why it does not run the build of the server, and that it builds what has changed.
      'from-source': { type: 'string' },
      'build-page': { type: 'boolean', default: false },
    },
  })
  const config = readConfig(process.env)
  const roles = readRoles(values.roles)
  const logger = openLog(config.logLevel)
  logWarningsAndCrash(logger)
  const whySource = values['from-source']
  if (whySource !== undefined) logger.info(`running from source: ${whySource}`)

  const isNew = !config.databaseUrls && !holdsDatabase(databaseFolder(config.dataDir))
  const stopProgress = isNew ? showProgress('Creating the embedded database', logger) : () => {}
  const service = await startService(config, {
    logger,
    roles,
    buildsPage: values['build-page'],
    buildsServer: values['build-page'] && whySource !== undefined,
  }).finally(stopProgress)
  stopOnSignals(service, { logger, drainMs: config.drainMs })
  await reportStart(service, { config, logger })
}

main().catch((error) => {
  reportFailure(error)
  process.exit(1)
})
