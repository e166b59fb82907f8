import type { Logger } from 'pino'
import { watchCalibration } from '../admin/calibrate-policy.ts'
import type { Environment } from '../config.ts'
import type { Installation } from '../installation/installation.ts'
import type { UpkeepTask } from './upkeep.ts'

const DAY_MS = 86_400_000

/** What the watch over calibrations works with. */
export interface CalibrationWatchParts {
  installation: Installation
  environment: Environment
  logger: Pick<Logger, 'warn'>
  /** Takes for how many organizations expectation and outcome have parted, once all were measured. */
  note: (environment: Environment, parted: number) => void
}

/**
 * Measures once a day, one organization after another, whether what its active policy expects has parted from what was
 * observed. Each that has is an alarm in the log.
 */
export function calibrationTask({ installation, environment, logger, note }: CalibrationWatchParts): UpkeepTask {
  const { policies } = installation.stores[environment]
  let after = ''
  let parted = 0
  let nextMs = 0
  return async (nowMs) => {
    if (nowMs < nextMs) return false
    const organizationId = await policies.nextWithActive(after)
    if (organizationId === undefined) {
      note(environment, parted)
      ;[after, parted, nextMs] = ['', 0, nowMs + DAY_MS]
      return false
    }
    // Before it is measured: a policy that cannot be must not keep the others from it.
    after = organizationId
    const report = await watchCalibration(installation, { environment, organizationId })
    if (!report?.has_parted) return true
    parted++
    const { version: policy_version, expected, observed } = report
    const line = { alarm: 'calibration_parted', organization_id: organizationId, environment, policy_version }
    logger.warn({ ...line, expected, observed }, 'the active policy expects another bad rate than was observed')
    return true
  }
}
