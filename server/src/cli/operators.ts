import type { OrganizationAct } from '../admin/act.ts'
import { changeRole, type RemovedOperator, removeOperator } from '../admin/change-operators.ts'
import { type FirstLink, issueFirstLink } from '../admin/first-link.ts'
import { inviteOperator, type SentInvitation } from '../admin/invitations.ts'
import {
  addOperator,
  type EnrolledOperator,
  findCurrentOperator,
  findOperatorToChange,
  resetCode,
} from '../admin/manage-operators.ts'
import { invalid } from '../admin/problem.ts'
import type { Installation } from '../installation/installation.ts'
import { listOperators, type Operator, ROLES } from '../store/control/operators.ts'
import { type CommandInput, defineCommand, renderTable } from './command.ts'
import {
  commandAct,
  operatorOptions,
  organizationOption,
  readActor,
  readOrganization,
  readSoleAct,
} from './shared-options.ts'

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
    const wanted = { email: input.positionals[0]!, ...readNameAndRole(input.options) }
    return addOperator(installation, await readManagerAct(installation, input), wanted)
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
    const email = input.positionals[0]!
    const act = await readManagerAct(installation, input)
    const stored = await findCurrentOperator(installation, act.organizationId, email)
    return inviteOperator(installation, act, { email, ...readNameAndRole(input.options, stored) })
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
    const act = await readManagerAct(installation, input)
    const operator = await findOperatorToChange(installation, act.organizationId, input.positionals[0]!)
    return resetCode(installation, act, operator)
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
    const role = readRole(input.options.role)
    const act = await readSoleAct(installation, input)
    const operator = await findOperatorToChange(installation, act.organizationId, input.positionals[0]!)
    return changeRole(installation, act, { operator, role })
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
    const act = await readSoleAct(installation, input)
    const operator = await findOperatorToChange(installation, act.organizationId, input.positionals[0]!)
    return removeOperator(installation, act, operator)
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
    const { id } = await readOrganization(installation, options)
    return listOperators(installation.storage.control, id)
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

/** Reads --org, and --as with --code of an owner or admin who vouches; without it, the user of the operating system acts. */
async function readManagerAct(installation: Installation, input: CommandInput): Promise<OrganizationAct> {
  const { id: organizationId } = await readOrganization(installation, input.options)
  return { ...commandAct(input, { organizationId }), by: await readActor(installation, organizationId, input) }
}

/** Reads --name and --role; those of an operator who was added before are the default. */
function readNameAndRole(options: CommandInput['options'], stored?: Operator): { name: string; role: string } {
  const name = options.name ?? stored?.name
  if (name === undefined) throw invalid('name_missing', 'Add --name <name> to name the person.')
  return { name: String(name), role: readRole(options.role ?? stored?.role) }
}

function readRole(role: CommandInput['options'][string]): string {
  if (role === undefined)
    throw invalid('role_missing', `Add --role <role> to say what the operator may do: ${ROLES.join(', ')}.`)
  return String(role)
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
