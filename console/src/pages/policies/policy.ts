import type { OutputOf } from '../../api/operation-types.ts'

/** A policy in the list. */
export type ListedPolicy = OutputOf<'policies.list'>['policies'][number]

/** What the active policy does, in figures. */
export type ActivePolicy = NonNullable<OutputOf<'policies.list'>['active']>

/** A policy with everything that its page shows. */
export type ShownPolicy = OutputOf<'policies.show'>

/** The document of a policy. */
export type PolicyDocument = ShownPolicy['document']

/** A change between two policies, described for people. */
export type PolicyChange = NonNullable<ShownPolicy['compared']>['changes'][number]

/** The result of a backtest. */
export type BacktestResult = OutputOf<'policy-backtests.show'>['result']
