/**
 * The service on a machine whose clock is wrong by SKEW_MS. With UNCORRECTED=true it does not follow the clock of the
 * database either, as a node that has not measured it for a long time.
 */
import { readConfig } from '../../src/config.ts'
import { openLog } from '../../src/service/log.ts'
import { startService } from '../../src/service/start-service.ts'

const { SKEW_MS, UNCORRECTED, LOG_LEVEL = 'info' } = process.env
const skewed = () => Date.now() + Number(SKEW_MS)
const logger = openLog(LOG_LEVEL)
const clocks = UNCORRECTED === 'true' ? { systemMs: skewed, nowMs: skewed } : { systemMs: skewed }
const service = await startService(readConfig(process.env), { logger, ...clocks })
logger.info('ready')
process.once('SIGTERM', () => void service.close().then(() => process.exit(0)))
