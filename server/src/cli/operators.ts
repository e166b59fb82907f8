import { changeRole, type RemovedOperator, removeOperator } from '../admin/change-operators.ts'
import { type FirstLink, issueFirstLink } from '../admin/first-link.ts'
import { inviteOperator, type SentInvitation } from '../admin/invitations.ts'
import {
  addOperator,
  type EnrolledOperator,
  findOperator,
  needsVoucher,
  type OperatorManager,
  resetCode,
} from '../admin/manage-operators.ts'
import { roleRefusal, type SoleAct } from '../admin/operator-act.ts'
import { HOW_TO_GET_CODES } from '../admin/operator-codes.ts'
import type { Installation } from '../installation/installation.ts'
import { listOperators, type Operator, ROLES } from '../store/control/operators.ts'
import { type CommandInput, defineCommand, isProblem, type Problem, renderTable } from './command.ts'
import { osUser } from './os-user.ts'
import { operatorOptions, organizationOption, readOperator, readOrganization } from './shared-options.ts'

const { as, code } = operatorOptions
const VOUCHER = 'email of an owner or admin who vouches; needed once there are two of them'
const VOUCHER_USAGE = '[--as <email> --code <code>] [--org <org>]'

export const operatorsAdd = defineCommand<EnrolledOperator>({
  name: 'operators add',
  summary: 'Add an operator; the secret of the one-time codes is shown only once',
  usage: `operators add <email> --name <name> --role <role> ${VOUCHER_USAGE}`,
  arguments: ['email'],
  options: {
    name: { type: 'string', description: 'name of the person' },
    role: { type: 'string', description: `one of: ${ROLES.join(', ')}` },
    as: { ...as, description: VOUCHER },
    code,
    org: organizationOption,
  },
  async run(installation, input) {
    const { options, positionals } = input
    if (options.name === undefined) return { problem: 'add --name <name> to name the person' }
    if (options.role === undefined)
      return { problem: `add --role <role> to say what the operator may do: ${ROLES.join(', ')}` }
    const manager = await readManager(installation, input)
    if (isProblem(manager)) return manager
    const newOperator = { email: positionals[0]!, name: String(options.name), role: String(options.role) }
    return addOperator(installation, manager, newOperator)
  },
  render: (operator) =>
    `Added operator ${operator.email} as ${operator.role} with the id ${operator.id}.\n\n${renderEnrolment(operator)}`,
})

export const operatorsInvite = defineCommand<SentInvitation>({
  name: 'operators invite',
  summary: 'Invite a person to the console, by a link that is shown only once',
  usage: `operators invite <email> --name <name> --role <role> ${VOUCHER_USAGE}`,
  arguments: ['email'],
  options: {
    name: { type: 'string', description: 'name of the person; of an operator who was added before, the stored one' },
    role: {
      type: 'string',
      description: `one of: ${ROLES.join(', ')}; of an operator who was added before, the stored one`,
    },
    as: { ...as, description: VOUCHER },
    code,
    org: organizationOption,
  },
  async run(installation, input) {
    const { options, positionals } = input
    const manager = await readManager(installation, input)
    if (isProblem(manager)) return manager
    const known = await findOperator(installation, manager.organizationId, positionals[0]!)
    const stored = isProblem(known) ? undefined : known
    const [name, role] = [options.name ?? stored?.name, options.role ?? stored?.role]
    if (name === undefined) return { problem: 'add --name <name> to name the person' }
    if (role === undefined) return { problem: `add --role <role> to say what they may do: ${ROLES.join(', ')}` }
    const invited = { email: positionals[0]!, name: String(name), role: String(role) }
    return inviteOperator(installation, manager, invited)
  },
  render: ({ operator, link, expires_at }) =>
    [
      `${operator.email} can join as ${operator.role} with this link, once and until ${expires_at}:`,
      '',
      link,
      '',
      'Hand it to this person only: it cannot be shown again. An earlier link of theirs no longer works.',
    ].join('\n'),
})

export const operatorsResetCode = defineCommand<EnrolledOperator>({
  name: 'operators reset-code',
  summary: 'Give an operator a new secret for one-time codes, because the authenticator app was lost',
  usage: `operators reset-code <email> ${VOUCHER_USAGE}`,
  arguments: ['email'],
  options: {
    as: { ...as, description: 'email of another owner or admin who vouches; needed once there are two of them' },
    code,
    org: organizationOption,
  },
  async run(installation, input) {
    const manager = await readManager(installation, input)
    if (isProblem(manager)) return manager
    const operator = await findOperator(installation, manager.organizationId, input.positionals[0]!)
    return isProblem(operator) ? operator : resetCode(installation, manager, operator)
  },
  render: (operator) =>
    `The earlier codes of ${operator.email} are refused from now on.\n\n${renderEnrolment(operator)}`,
})

export const operatorsFirstLink = defineCommand<FirstLink>({
  name: 'operators first-link',
  summary: 'Make the one-time link for the first owner again, because the first was lost or has expired',
  usage: 'operators first-link',
  options: {},
  run: (installation) => issueFirstLink(installation),
  render: ({ link, expires_at }) =>
    `${link}\n\nOpen it to become the owner of the first organization. It works once, until ${expires_at}; earlier links no longer work.`,
})

export const operatorsRole = defineCommand<Operator>({
  name: 'operators role',
  summary: 'Give an operator another role',
  usage: `operators role <email> --role <role> --reason <text> ${VOUCHER_USAGE}`,
  arguments: ['email'],
  options: {
    role: { type: 'string', description: `one of: ${ROLES.join(', ')}` },
    ...operatorOptions,
    as: { ...as, description: VOUCHER },
  },
  async run(installation, input) {
    const { options, positionals } = input
    if (options.role === undefined) return { problem: `add --role <role>: ${ROLES.join(', ')}` }
    const act = await readManagerAct(installation, input)
    if (isProblem(act)) return act
    const operator = await findOperator(installation, act.organizationId, positionals[0]!)
    return isProblem(operator) ? operator : changeRole(installation, act, { operator, role: String(options.role) })
  },
  render: ({ email, role }) => `${email} is ${role} from now on.`,
})

export const operatorsRemove = defineCommand<RemovedOperator>({
  name: 'operators remove',
  summary: 'Remove an operator; their sessions end and their approvals of the live gate no longer count',
  usage: `operators remove <email> --reason <text> ${VOUCHER_USAGE}`,
  arguments: ['email'],
  options: { ...operatorOptions, as: { ...as, description: VOUCHER } },
  async run(installation, input) {
    const act = await readManagerAct(installation, input)
    if (isProblem(act)) return act
    const operator = await findOperator(installation, act.organizationId, input.positionals[0]!)
    return isProblem(operator) ? operator : removeOperator(installation, act, operator)
  },
  render: ({ email, sessions_ended, approvals_withdrawn }) =>
    `Removed ${email}; sessions ended: ${sessions_ended}, approvals of the live gate withdrawn: ${approvals_withdrawn}.`,
})

export const operatorsList = defineCommand<Operator[]>({
  name: 'operators list',
  summary: 'List the operators of an organization',
  usage: 'operators list [--org <org>]',
  options: { org: organizationOption },
  async run(installation, { options }) {
    const organization = await readOrganization(installation, options)
    return isProblem(organization) ? organization : listOperators(installation.storage.control, organization.id)
  },
  render: (operators) =>
    renderTable(
      ['EMAIL', 'NAME', 'ROLE', 'STATE', 'ID'],
      operators.map(({ email, name, role, disabled_at, id }) => [
        email,
        name,
        role,
        disabled_at === null ? 'active' : `removed ${disabled_at.slice(0, 10)}`,
        id,
      ]),
    ),
})

/** Reads who adds or enrols operators: the user of the operating system, or an owner or admin with a code. */
async function readManager(installation: Installation, input: CommandInput): Promise<OperatorManager | Problem> {
  const organization = await readOrganization(installation, input.options)
  if (isProblem(organization)) return organization
  const organizationId = organization.id
  const voucher = await readOperator(installation, organizationId, input)
  if (isProblem(voucher)) return voucher
  if (!voucher) {
    if (!(await needsVoucher(installation, organizationId))) return { organizationId, actor: osUser(input) }
    return {
      problem: `add --as <email> --code <code> of an owner or admin: this organization has two of them, so one has to vouch; without codes, ${HOW_TO_GET_CODES}`,
    }
  }
  const refused = roleRefusal(voucher, organizationId, 'manage operators')
  return (
    refused ?? { organizationId, actor: { type: 'operator', id: voucher.id }, via: osUser(input).id, operator: voucher }
  )
}

/** Reads --reason and who changes an operator, under the same rule. */
async function readManagerAct(installation: Installation, input: CommandInput): Promise<SoleAct | Problem> {
  if (input.options.reason === undefined)
    return { problem: 'add --reason "…" to say why: the reason is recorded in the audit log' }
  const manager = await readManager(installation, input)
  if (isProblem(manager)) return manager
  const { organizationId, operator } = manager
  return { organizationId, reason: String(input.options.reason), via: osUser(input).id, ...(operator && { operator }) }
}

function renderEnrolment({ code_secret, code_uri }: EnrolledOperator): string {
  return [
    `Secret  ${code_secret}`,
    `URI     ${code_uri}`,
    '',
    'Hand it to this person only, to enter into an authenticator app: it cannot be shown again.',
    'The app then shows the codes for --code.',
  ].join('\n')
}
