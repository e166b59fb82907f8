/** The moves of a step that two operators take: the command proposes it, and `--approve` and `--withdraw` end the proposal. */
import type { StepMove } from '../admin/entity-steps.ts'
import { invalid } from '../admin/problem.ts'
import type { CommandInput } from './command.ts'
import { environmentOperatorOptions, OPERATOR_USAGE } from './shared-options.ts'

export const stepOptions = {
  ...environmentOperatorOptions,
  approve: { type: 'boolean', description: 'approve what another operator proposed' },
  withdraw: { type: 'boolean', description: 'withdraw what you or another operator proposed' },
} as const

export const STEP_USAGE = `[--approve | --withdraw] ${OPERATOR_USAGE}`

/** Reads --approve and --withdraw; without them a command proposes. */
export function readMove({ approve, withdraw }: CommandInput['options']): StepMove {
  if (approve && withdraw) throw invalid('moves_ambiguous', '--approve and --withdraw exclude each other.')
  if (approve) return 'approve'
  return withdraw ? 'withdraw' : 'propose'
}

/** What a person reads after a proposal. */
export const SECOND_OPERATOR =
  'Nothing changes until another operator runs the same command with --approve, and their own --as, --code and --reason.'
