import { approveGate, closeGate, type GateStatus, gateStatus } from '../admin/manage-gate.ts'
import { defineCommand, isProblem } from './command.ts'
import {
  operatorOptions,
  organizationOption,
  readOperatorAct,
  readOrganization,
  readSoleAct,
} from './shared-options.ts'

export const gateStatusCommand = defineCommand<GateStatus>({
  name: 'gate status',
  summary: 'Show whether an organization may underwrite in production, and which operators approved it',
  usage: 'gate status [--org <org>]',
  options: { org: organizationOption },
  async run(installation, { options }) {
    const organization = await readOrganization(installation, options)
    return isProblem(organization) ? organization : gateStatus(installation, organization.id)
  },
  render: renderStatus,
})

export const gateApprove = defineCommand<GateStatus>({
  name: 'gate approve',
  summary: 'Approve underwriting in production; the approval of a second operator opens the gate',
  usage: 'gate approve --as <email> --code <code> --reason <text> [--org <org>]',
  options: operatorOptions,
  async run(installation, input) {
    const act = await readOperatorAct(installation, input)
    return isProblem(act) ? act : approveGate(installation, act)
  },
  render: renderStatus,
})

export const gateClose = defineCommand<GateStatus>({
  name: 'gate close',
  summary: 'Stop underwriting in production at once; one person is enough',
  usage: 'gate close --reason <text> [--as <email> --code <code>] [--org <org>]',
  options: operatorOptions,
  async run(installation, input) {
    const act = await readSoleAct(installation, input)
    return isProblem(act) ? act : closeGate(installation, act)
  },
  render: renderStatus,
})

function renderStatus({ open, approvals, approvals_needed }: GateStatus): string {
  const lines = approvals.map(
    ({ email, approved_at, reason, invited_by, invited_at }) =>
      `  ${email}${invited_by ? ` (invited by ${invited_by.name}, ${invited_at})` : ''}, ${approved_at}: ${reason}`,
  )
  const heading = open
    ? 'The live gate is open.'
    : `The live gate is closed: ${approvals.length} of ${approvals_needed} approvals.`
  return [heading, ...lines].join('\n')
}
