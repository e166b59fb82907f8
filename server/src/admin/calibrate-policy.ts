import { LRUCache } from 'lru-cache'
import type { Calibration } from '../core/backtest/backtest-result.ts'
import { INDEPENDENT_MIN } from '../core/backtest/calibration.ts'
import { calibrateSource } from '../core/policy/calibrate-source.ts'
import type { PolicyDocument } from '../core/policy/policy-document.ts'
import { MATURITY_DAYS_DEFAULT } from '../core/policy/portfolio-settings.ts'
import type { Installation } from '../installation/installation.ts'
import type { StoredPolicy } from '../store/environment/policies.ts'
import { type EnvironmentAct, permitted } from './act.ts'
import { findPolicy } from './find-policy.ts'
import { conflict } from './problem.ts'
import { boundsOf, runBacktest } from './run-backtest.ts'

/** What a policy expects of the decisions with known outcomes, against what was observed. */
export interface CalibrationReport extends Calibration {
  version: string
  checksum: string
  /** How old a decision has to be before its outcome counts. */
  maturity_days: number
  /** Decisions with an outcome report, old enough that it counts, that were decided again. */
  decided: number
  measured_at: string
}

/** The newest mature decisions with an outcome report: more tell little more. */
const DECISIONS = 20_000
/** Outcomes come in over months, so a calibration of the last hour is as good as a new one. */
const KEPT_MS = 3_600_000
const KEPT_MAX = 1_000

/** The calibrations of each installation, by environment, organization and policy; those in progress too. */
const kept = new WeakMap<
  Installation['threads'],
  LRUCache<string, { atMs: number; report: Promise<CalibrationReport> }>
>()

type Place = Pick<EnvironmentAct, 'environment' | 'organizationId'>

/** Measures how a policy fits the decisions with known outcomes, unless it did within the last hour. Nothing is written. */
export function readCalibration(
  installation: Installation,
  place: Place,
  policy: Pick<StoredPolicy, 'version' | 'document' | 'checksum'>,
): Promise<CalibrationReport> {
  const ofInstallation = kept.get(installation.threads) ?? new LRUCache({ max: KEPT_MAX })
  kept.set(installation.threads, ofInstallation)
  const key = `${place.environment} ${place.organizationId} ${policy.version} ${policy.checksum}`
  const nowMs = installation.nowMs()
  const known = ofInstallation.get(key)
  if (known && nowMs - known.atMs < KEPT_MS) return known.report
  const report = measure(installation, place, policy)
  ofInstallation.set(key, { atMs: nowMs, report })
  report.catch(() => {
    if (ofInstallation.get(key)?.report === report) ofInstallation.delete(key)
  })
  return report
}

/** The calibration of the active policy; null without one, and where too few outcomes are reported to tell anything from it. */
export async function watchCalibration(installation: Installation, place: Place): Promise<CalibrationReport | null> {
  const { environment, organizationId } = place
  const store = installation.stores[environment]
  const active = await store.policies.active(organizationId)
  if (!active) return null
  const bounds = boundsOf({ withOutcome: true, toMs: matureBefore(active, installation.nowMs()) })
  const reported = await store.backtests.countCases(organizationId, bounds, INDEPENDENT_MIN)
  return reported < INDEPENDENT_MIN ? null : readCalibration(installation, place, active)
}

async function measure(
  { stores, threads, nowMs }: Installation,
  { environment, organizationId }: Place,
  { version, document, checksum }: Pick<StoredPolicy, 'version' | 'document' | 'checksum'>,
): Promise<CalibrationReport> {
  const measuredMs = nowMs()
  const toMs = matureBefore({ document }, measuredMs)
  const result = await runBacktest(
    { store: stores[environment], threads, nowMs: measuredMs },
    { client: { organizationId }, policy: { document, checksum }, range: { last: DECISIONS, withOutcome: true, toMs } },
  )
  const { calibration, decided, headline } = result
  const { maturity_days } = headline
  return { ...calibration, version, checksum, maturity_days, decided, measured_at: new Date(measuredMs).toISOString() }
}

/** The moment before which decisions were made whose outcomes count: with those after it, an organization that decides much would have no others. */
function matureBefore({ document }: Pick<StoredPolicy, 'document'>, nowMs: number): number {
  const { portfolio } = JSON.parse(document) as PolicyDocument
  // A decision of this moment is old enough if outcomes count at once.
  return nowMs - (portfolio?.maturity_days ?? MATURITY_DAYS_DEFAULT) * DAY_MS + 1
}

const DAY_MS = 86_400_000

/** The text of a policy whose probabilities are fitted to known outcomes. It decides nothing before it is proposed, approved and activated. */
export const draftCalibration = permitted(
  'propose policies',
  async (
    installation,
    act: EnvironmentAct,
    { version, newVersion }: { version: string; newVersion?: string | undefined },
  ): Promise<{ source: string; report: CalibrationReport }> => {
    const policy = await findPolicy(installation, act, version)
    const report = await readCalibration(installation, act, policy)
    if (report.proposals.length === 0)
      throw conflict(
        'calibration_unknown',
        `Too few outcomes are known to fit the probabilities of ${version}: it takes those of ${INDEPENDENT_MIN} entities.`,
      )
    return { source: calibrateSource(policy.source, report.proposals, newVersion), report }
  },
)
