import { type Static, Type } from 'typebox'

/** How old a decision has to be before its outcome counts, if the policy does not say: a credit takes months to go bad. */
export const MATURITY_DAYS_DEFAULT = 365

/** The most that the score may be moved before its probability is read. */
export const CALIBRATION_POINTS_MAX = 300

/** The field of a scorecard that fits its probabilities to a portfolio. */
export const CalibrationPoints = Type.Integer({
  minimum: -CALIBRATION_POINTS_MAX,
  maximum: CALIBRATION_POINTS_MAX,
  description:
    'Points added to the score before `probability` is read, which fits the table to a portfolio: fewer than zero make every score riskier. They move neither the score nor the cutoff.',
})

const Share = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description: `${description}, in millionths.` }))

const BacktestLimits = Type.Object(
  {
    decisions_min: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, description: 'The fewest decisions that the backtest decides.' }),
    ),
    bad_ppm_max: Share('The highest bad rate of all that this policy approves'),
    approved_ppm_min: Share('The lowest share of decisions that are approved'),
    approved_ppm_max: Share('The highest share of decisions that are approved'),
    changed_ppm_max: Share('The highest share of decisions that get another verdict'),
  },
  {
    additionalProperties: false,
    description: 'What the newest backtest of this version must keep, or the version cannot be approved.',
  },
)

/** What a policy says about the portfolio that it makes: how backtests read it, and what they must keep. */
export const Portfolio = Type.Object(
  {
    maturity_days: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 3650,
        description: `How old a decision has to be before its outcome counts in backtests and for calibration; ${MATURITY_DAYS_DEFAULT} without this line.`,
      }),
    ),
    loss_given_default_ppm: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description:
          'The share of the amount, in millionths, that is lost if a credit goes bad; all of it without this line.',
      }),
    ),
    backtest_limits: Type.Optional(BacktestLimits),
  },
  {
    additionalProperties: false,
    description: 'How backtests measure what this policy would lend. No decision reads it.',
  },
)

/** The limits of a backtest as their author wrote them. */
export type BacktestLimits = Static<typeof BacktestLimits>
