import { type CalibrationReport, draftCalibration, readCalibration } from '../admin/calibrate-policy.ts'
import { findPolicy } from '../admin/find-policy.ts'
import { defineCommand, renderTable } from './command.ts'
import { percent } from './percent.ts'
import { badText } from './render-headline.ts'
import { commandAct, readTarget, TARGET_USAGE, targetOptions } from './shared-options.ts'

/** A calibration, and the text of the version that it proposes if that was asked for. */
interface ShownCalibration {
  report: CalibrationReport
  source?: string
}

export const policyCalibrate = defineCommand<ShownCalibration>({
  name: 'policy calibrate',
  summary: 'Compare what a version expects with the outcomes that are known, and write a version that fits them',
  usage: `policy calibrate <version> [--draft <new version>] ${TARGET_USAGE}`,
  arguments: ['version'],
  options: {
    draft: { type: 'string', description: 'print the text of a version of this name whose probabilities are fitted' },
    ...targetOptions,
  },
  async run(installation, input) {
    const { options, positionals } = input
    const act = commandAct(input, await readTarget(installation, options))
    const version = positionals[0]!
    if (options.draft !== undefined)
      return draftCalibration(installation, act, { version, newVersion: String(options.draft) })
    return { report: await readCalibration(installation, act, await findPolicy(installation, act, version)) }
  },
  render: ({ report, source }) => source?.trimEnd() ?? renderCalibration(report),
})

function renderCalibration({
  version,
  expected,
  observed,
  has_parted,
  bands,
  proposals,
  ...report
}: CalibrationReport): string {
  if (expected === null)
    return report.maturity_days === 0
      ? 'No outcome is known yet of an approved credit.'
      : `No outcome is known of an approved credit that is ${report.maturity_days} days old.`
  return [
    has_parted
      ? `PARTED: what ${version} expects is outside of the 95 % interval of what was observed.`
      : `What ${version} expects is not shown to differ from what was observed.`,
    '',
    renderTable(
      ['SCORE', 'EXPECTED', 'OBSERVED BAD (95 % INTERVAL)'],
      [
        ...bands.map(({ score_from, score_to, expected: mean, observed: ends }) => [
          score_from === score_to ? String(score_from) : `${score_from} to ${score_to}`,
          percent(mean, 1, 1),
          badText(ends),
        ]),
        ['all', percent(expected, 1, 1), badText(observed)],
      ],
    ),
    '',
    ...proposals.map(
      ({ segment, points_now, points, points_low, points_high }) =>
        `calibration_points${segment === null ? '' : ` of the segment ${segment}`}: ${points} would fit (${points_low} to ${points_high}); now ${points_now}.`,
    ),
    ...(proposals.length === 0 ? ['Too few outcomes are known to propose calibration points.'] : []),
  ].join('\n')
}
