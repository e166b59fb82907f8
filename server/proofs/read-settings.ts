/** The options of `npm run prove`. */
import { parseArgs } from 'node:util'
import { FAULTS } from './cluster/faults.ts'
import { type DatabaseName, PROMISES, type ProvedPromise } from './promises.ts'

/** What `--help` prints. */
export const USAGE = `Usage: npm run prove -- [--only P[,P…]] [--seed N] [--share F] [--long] [--faults F[,F…]] [--soak-minutes M] [--on embedded|postgres] [--once] [--after-tests] [--report-times] [--minutes M]

  --only          proves only these promises, by their numbers or by the names of proofs, such as failover
  --seed          repeats a run (default: a new one, which is printed)
  --share         a fraction of the usual number of trials, such as 0.2
  --long          repeats what is proved once otherwise, for hours: the faults of failover
  --faults        with --long: only these faults of failover; of ${Object.keys(FAULTS).join(', ')}
  --soak-minutes  how long the soak of promise 15 takes on each database (default: 0.5)
  --on            one database instead of both
  --once          proves on PostgreSQL only, except what is about the embedded database
  --after-tests   leaves out what npm test runs, for a build that has just run it on both databases
  --report-times  reports a time over its limit instead of failing, for a machine with busy neighbours
  --minutes       begins no further proof after so many minutes, and names the promises that lack one`

/** What a run of the proofs is to do. */
export interface Settings {
  promises: readonly ProvedPromise[]
  databases: readonly DatabaseName[]
  once: boolean
  afterTests: boolean
  /** What the proofs read themselves (`proof-run.ts`). */
  env: Record<string, string>
  /** When the last proof may begin. */
  beginsUntil: number
}

/** Reads the options of a run; undefined if a value makes no sense. */
export function readSettings(
  args: string[],
  { nowMs, newSeed }: { nowMs: number; newSeed: number },
): Settings | undefined {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      seed: { type: 'string', default: String(newSeed) },
      share: { type: 'string', default: '1' },
      long: { type: 'boolean', default: false },
      faults: { type: 'string' },
      'soak-minutes': { type: 'string', default: '0.5' },
      on: { type: 'string' },
      once: { type: 'boolean', default: false },
      'after-tests': { type: 'boolean', default: false },
      'report-times': { type: 'boolean', default: false },
      minutes: { type: 'string', default: 'Infinity' },
    },
  })
  const only = values.only?.split(',')
  const isNamedBy = ({ number, proofs }: ProvedPromise) => {
    return (name: string) => name === String(number) || proofs.some(({ file }) => file.endsWith(`/${name}.proof.ts`))
  }
  const promises = PROMISES.filter((promise) => !only || only.some(isNamedBy(promise)))
  const isEachKnown = only?.every((name) => promises.some((promise) => isNamedBy(promise)(name))) ?? true
  const databases = (['embedded', 'postgres'] as const).filter((name) => !values.on || values.on === name)
  const soakMinutes = values['soak-minutes']
  const areNumbers =
    Number.isSafeInteger(Number(values.seed)) &&
    Number(values.share) > 0 &&
    Number(soakMinutes) > 0 &&
    Number(values.minutes) > 0
  const areFaults =
    values.faults === undefined ||
    (values.long && values.faults.split(',').every((name) => Object.hasOwn(FAULTS, name)))
  if (!isEachKnown || databases.length === 0 || !areNumbers || !areFaults) return undefined
  return {
    promises,
    databases,
    once: values.once,
    afterTests: values['after-tests'],
    beginsUntil: nowMs + Number(values.minutes) * 60_000,
    env: {
      PROVE_SEED: values.seed,
      PROVE_SHARE: values.share,
      PROVE_SOAK_MINUTES: soakMinutes,
      ...(values.long && { PROVE_LONG: '1' }),
      ...(values.faults && { PROVE_FAULTS: values.faults }),
      ...(values['report-times'] && { PROVE_TIMES: 'report' }),
    },
  }
}
