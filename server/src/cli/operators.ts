import {
  addOperator,
  type EnrolledOperator,
  findOperator,
  needsVoucher,
  type OperatorManager,
  resetCode,
} from '../admin/manage-operators.ts'
import { roleRefusal } from '../admin/operator-act.ts'
import type { Installation } from '../service/installation.ts'
import { listOperators, type Operator, ROLES } from '../store/queries/operators.ts'
import { type CommandInput, defineCommand, isProblem, type Problem, renderTable } from './command.ts'
import { osUser } from './os-user.ts'
import { operatorOptions, organizationOption, readOperator, readOrganization } from './shared-options.ts'

const { as, code } = operatorOptions
const VOUCHER_USAGE = '[--as <email> --code <code>] [--org <org>]'

export const operatorsAdd = defineCommand<EnrolledOperator>({
  name: 'operators add',
  summary: 'Add an operator; the secret of the one-time codes is shown only once',
  usage: `operators add <email> --name <name> --role <role> ${VOUCHER_USAGE}`,
  arguments: ['email'],
  options: {
    name: { type: 'string', description: 'name of the person' },
    role: { type: 'string', description: `one of: ${ROLES.join(', ')}` },
    as: { ...as, description: 'email of an owner or admin who vouches; needed once there are two of them' },
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
        disabled_at === null ? 'active' : `disabled ${disabled_at.slice(0, 10)}`,
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
      problem:
        'add --as <email> --code <code> of an owner or admin: this organization has two of them, so one has to vouch',
    }
  }
  const refused = roleRefusal(voucher, organizationId, 'manage operators')
  return refused ?? { organizationId, actor: { type: 'operator', id: voucher.id }, via: osUser(input).id }
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
