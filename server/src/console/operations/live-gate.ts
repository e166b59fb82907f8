import { approveGate, closeGate, gateEvidence, gateStatus } from '../../admin/manage-gate.ts'
import { holds } from '../../admin/operator-act.ts'
import { Strict, Text } from '../../core/schema/fields.ts'
import { defineOperation, type OperatorContext, type Refusal } from '../define-operation.ts'
import { refuse } from '../refuse.ts'

const Reason = Strict({ reason: Text(2_000, 'Why; recorded in the audit log.') })

/** The live gate of the organization: whether it is open, its approvals, and the evidence of its checklist. */
export const showGate = defineOperation({
  summary: 'Show the live gate with its approvals and its checklist',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle(context) {
    const { installation, organizationId } = context
    const evidence = await gateEvidence(installation, organizationId)
    return { ...(await describeGate(context)), evidence }
  },
})

/** Approves live underwriting in the name of the operator who is signed in. */
export const approveLiveGate = defineOperation({
  summary: 'Approve underwriting in production',
  access: 'open or close the live gate',
  input: Reason,
  audit: ['live_gate.approved'],
  async handle(context) {
    const refused = onlyInProduction(context)
    if (refused) return refused
    const { installation, organizationId, operator, input } = context
    const status = await approveGate(installation, { organizationId, operator, reason: input.reason })
    return 'problem' in status ? refuse(status) : describeGate(context)
  },
})

/** Closes the live gate at once. */
export const closeLiveGate = defineOperation({
  summary: 'Stop underwriting in production at once',
  access: 'open or close the live gate',
  input: Reason,
  audit: ['live_gate.closed', 'live_gate.approval_withdrawn'],
  async handle(context) {
    const refused = onlyInProduction(context)
    if (refused) return refused
    const { installation, organizationId, operator, input } = context
    const status = await closeGate(installation, { organizationId, operator, reason: input.reason })
    return 'problem' in status ? refuse(status) : describeGate(context)
  },
})

async function describeGate({ installation, organizationId, operator }: OperatorContext<unknown>) {
  const { open, approvals, approvals_needed } = await gateStatus(installation, organizationId)
  return {
    open,
    approvals,
    approvals_needed,
    you: {
      may_act: holds(operator, 'open or close the live gate'),
      has_approved: approvals.some(({ operator_id }) => operator_id === operator.id),
    },
  }
}

/** So that a page that shows the sandbox never changes what production does. */
function onlyInProduction({ environment }: OperatorContext<unknown>): Refusal | undefined {
  if (environment === 'production') return undefined
  return { problem: 'The live gate belongs to production: switch to production first.' }
}
