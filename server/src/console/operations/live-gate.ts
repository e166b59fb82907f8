import { approveGate, closeGate, gateEvidence, gateStatus } from '../../admin/manage-gate.ts'
import { holds } from '../../admin/permissions.ts'
import { conflict } from '../../admin/problem.ts'
import { Strict, Text } from '../../core/schema/fields.ts'
import { defineOperation, type OperatorContext } from '../define-operation.ts'

const Reason = Strict({ reason: Text(2_000, 'Why; recorded in the audit log.') })

/** The live gate of the organization: whether it is open, its approvals, and the evidence of its checklist. */
const showGate = defineOperation({
  summary: 'Show the live gate with its approvals and its checklist',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle(context) {
    const evidence = await gateEvidence(context.installation, context.act)
    return { ...(await describeGate(context)), evidence }
  },
})

/** Approves live underwriting in the name of the operator who is signed in. */
const approveLiveGate = defineOperation({
  summary: 'Approve underwriting in production',
  access: approveGate.permission,
  input: Reason,
  audit: ['live_gate.approved'],
  async handle(context) {
    requireProduction(context)
    await approveGate(context.installation, context.act)
    return describeGate(context)
  },
})

/** Closes the live gate at once. */
const closeLiveGate = defineOperation({
  summary: 'Stop underwriting in production at once',
  access: closeGate.permission,
  input: Reason,
  audit: ['live_gate.closed', 'live_gate.approval_withdrawn'],
  async handle(context) {
    requireProduction(context)
    await closeGate(context.installation, context.act)
    return describeGate(context)
  },
})

async function describeGate({ installation, act, operator }: OperatorContext<unknown>) {
  const { open, approvals, approvals_needed } = await gateStatus(installation, act)
  return {
    open,
    approvals,
    approvals_needed,
    you: {
      may_act: holds(operator, approveGate.permission),
      has_approved: approvals.some(({ operator_id }) => operator_id === operator.id),
    },
  }
}

/** So that a page that shows the sandbox never changes what production does. */
function requireProduction({ environment }: OperatorContext<unknown>): void {
  if (environment !== 'production') throw conflict('not_in_production', 'The live gate belongs to production.')
}

/** The operations `live-gate.<verb>`. */
export const liveGate = {
  show: showGate,
  approve: approveLiveGate,
  close: closeLiveGate,
}
