import { approveGate, closeGate, type GateStatus, gateStatus } from '../admin/manage-gate.ts'
import { defineCommand } from './command.ts'
import {
  commandAct,
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
  async run(installation, input) {
    const { id: organizationId } = await readOrganization(installation, input.options)
    return gateStatus(installation, commandAct(input, { organizationId }))
  },
  render: renderStatus,
})

export const gateApprove = defineCommand<GateStatus>({
  name: 'gate approve',
  summary: 'Approve underwriting in production; the approval of a second operator opens the gate',
  usage: 'gate approve --as <email> --code <code> --reason <text> [--org <org>]',
  options: operatorOptions,
  run: async (installation, input) => approveGate(installation, await readOperatorAct(installation, input)),
  render: renderStatus,
})

export const gateClose = defineCommand<GateStatus>({
  name: 'gate close',
  summary: 'Stop underwriting in production at once; one person is enough',
  usage: 'gate close --reason <text> [--as <email> --code <code>] [--org <org>]',
  options: operatorOptions,
  run: async (installation, input) => closeGate(installation, await readSoleAct(installation, input)),
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
