/**
 * What a start tells its operator: in words on a terminal, and as lines of the log everywhere else, so that a kept log is
 * JSON throughout and has no secret. Each stream counts for itself: `npm start > log` shows its progress on the terminal.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { explainFailure } from '../installation/explain-failure.ts'
import { hasOwner } from '../store/control/first-link.ts'
import { firstOrganizationId } from '../store/control/organizations.ts'
import { openLog } from './log.ts'
import type { Service } from './start-service.ts'

/** Shows the seconds that a task takes; returns the function that ends it. */
export function showProgress(task: string, logger: Logger): () => void {
  const started = Date.now()
  const seconds = () => Math.round((Date.now() - started) / 1_000)
  if (!process.stderr.isTTY) {
    logger.info(`${task} …`)
    return () => logger.info({ seconds: seconds() }, `${task}: ended`)
  }
  const timer = setInterval(() => process.stderr.write(`\r${task} … ${seconds()} s`), 250)
  return () => {
    clearInterval(timer)
    process.stderr.write('\n')
  }
}

/** Says that the service is ready, where the console is, and how to get in while it has no owner. */
export async function reportStart(service: Service, { config, logger }: { config: Config; logger: Logger }) {
  const { installation, firstRunText, urls } = service
  const file = join(config.dataDir, 'first-run.txt')
  if (firstRunText && process.stdout.isTTY)
    console.log(`\n${firstRunText}\nSaved in ${file}; the key and the link are not shown again.\n`)
  else if (firstRunText) logger.info({ file }, 'the first key and the link for the first sign-in are in a file')
  logger.info({ ...urls, storage: config.databaseUrls ? 'postgresql' : 'embedded' }, 'ready')
  if (firstRunText || !urls.console) return

  const { control } = installation.storage
  const lacksOwner = !(await hasOwner(control, await firstOrganizationId(control)))
  const newLink = 'npm run cli -- operators first-link makes a new one'
  const hasLink = existsSync(file)
  if (process.stderr.isTTY) {
    console.error(`Console            ${config.ports.console === 0 ? urls.console : config.baseUrls.console}`)
    const where = hasLink ? file : 'first-run.txt of the node that was started first'
    if (lacksOwner) console.error(`First sign-in      by the link in ${where}; ${newLink}`)
  } else if (lacksOwner && hasLink) logger.info({ file }, `the link for the first sign-in is in a file; ${newLink}`)
  else if (lacksOwner) logger.info(`the node that was started first has the link for the first sign-in; ${newLink}`)
}

/** Says why a start failed, at every log level. */
export function reportFailure(error: unknown): void {
  const text = explainFailure(error)
  if (process.stderr.isTTY) console.error(text)
  else openLog('fatal').fatal(text)
}

/** Puts the warnings of Node.js and the error that ends the process into the log, unless a terminal shows them. */
export function logWarningsAndCrash(logger: Logger): void {
  if (process.stderr.isTTY) return
  process.removeAllListeners('warning').on('warning', (warning) => logger.warn({ err: warning }, 'warning of Node.js'))
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'an unexpected error ends the process')
    process.exit(1)
  })
}
