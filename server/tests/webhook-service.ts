/** Runs the service with a short retry schedule, as a process that tests can kill: `webhook-service.ts <roles>`. */
import { pino } from 'pino'
import { readConfig, readRoles } from '../src/config.ts'
import { startService } from '../src/service/start-service.ts'

const logger = pino({ level: 'warn' })
const service = await startService(readConfig(process.env), {
  logger,
  roles: readRoles(process.argv[2]),
  webhookTimings: {
    // Many short delays: a delivery to a receiver that fails 30 % of its requests must not run out of attempts.
    delaysMs: [0, ...Array.from({ length: 29 }, () => 200)],
    timeoutMs: 2_000,
    leaseSeconds: 3,
    pollEveryMs: 50,
  },
})
process.once('SIGTERM', () => void service.close().then(() => process.exit(0)))
console.log('started')
