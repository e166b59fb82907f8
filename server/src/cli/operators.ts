import { addOperator } from '../admin/manage-operators.ts'
import { listOperators, type Operator, ROLES } from '../store/queries/operators.ts'
import { defineCommand, isProblem, renderTable } from './command.ts'
import { cliActor, organizationOption, readOrganization } from './shared-options.ts'

export const operatorsAdd = defineCommand<Operator>({
  name: 'operators add',
  summary: 'Add an operator to an organization',
  usage: 'operators add <email> --name <name> --role <role> [--org <org>]',
  arguments: ['email'],
  options: {
    name: { type: 'string', description: 'name of the person' },
    role: { type: 'string', description: `one of: ${ROLES.join(', ')}` },
    org: organizationOption,
  },
  async run(installation, { options, positionals }) {
    if (options.name === undefined) return { problem: 'add --name <name> to name the person' }
    if (options.role === undefined)
      return { problem: `add --role <role> to say what the operator may do: ${ROLES.join(', ')}` }
    const organization = await readOrganization(installation, options)
    if (isProblem(organization)) return organization
    return addOperator(installation, {
      organizationId: organization.id,
      email: positionals[0]!,
      name: String(options.name),
      role: String(options.role),
      actor: cliActor(),
    })
  },
  render: ({ id, email, role }) => `Added operator ${email} as ${role} with the id ${id}.`,
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
