import { approveGate, closeGate, type GateStatus, gateStatus } from '../admin/manage-gate.ts'
import { findOrganization } from '../admin/manage-organizations.ts'
import { actOptions, organizationOption, readAct } from './acting-operator.ts'
import { defineCommand, isProblem } from './command.ts'

export const gateStatusCommand = defineCommand<GateStatus>({
  name: 'gate status',
  summary: 'Say whether an organization may underwrite live, and on whose word',
  usage: 'gate status [--org <org>]',
  options: { org: organizationOption },
  async run(installation, { options }) {
    const organization = await findOrganization(installation, options.org as string | undefined)
    return isProblem(organization) ? organization : gateStatus(installation, organization.id)
  },
  render: renderStatus,
})

export const gateApprove = defineCommand<GateStatus>({
  name: 'gate approve',
  summary: 'Approve live underwriting; the second operator to do so opens the gate',
  usage: 'gate approve --as <email> --reason <text> [--org <org>]',
  options: actOptions,
  async run(installation, { options }) {
    const act = await readAct(installation, options)
    return isProblem(act) ? act : approveGate(installation, act)
  },
  render: renderStatus,
})

export const gateClose = defineCommand<GateStatus>({
  name: 'gate close',
  summary: 'Stop live underwriting at once; one operator is enough',
  usage: 'gate close --as <email> --reason <text> [--org <org>]',
  options: actOptions,
  async run(installation, { options }) {
    const act = await readAct(installation, options)
    return isProblem(act) ? act : closeGate(installation, act)
  },
  render: renderStatus,
})

function renderStatus({ open, approvals, approvals_needed }: GateStatus): string {
  const lines = approvals.map(({ email, approved_at, reason }) => `  ${email}, ${approved_at}: ${reason}`)
  const heading = open
    ? 'The live gate is open.'
    : `The live gate is closed: ${approvals.length} of ${approvals_needed} approvals.`
  return [heading, ...lines].join('\n')
}
