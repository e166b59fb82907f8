import { addOperator } from '../admin/manage-operators.ts'
import { findOrganization } from '../admin/manage-organizations.ts'
import { listOperators, type Operator, ROLES } from '../store/queries/operators.ts'
import { organizationOption } from './acting-operator.ts'
import { cliActor } from './cli-actor.ts'
import { defineCommand, isProblem, renderTable } from './command.ts'

export const operatorsAdd = defineCommand<Operator>({
  name: 'operators add',
  summary: 'Add a person who works for an organization',
  usage: 'operators add <email> --name <name> --role <role> [--org <org>]',
  arguments: ['email'],
  options: {
    name: { type: 'string', description: 'the person’s name' },
    role: { type: 'string', description: `one of: ${ROLES.join(', ')}` },
    org: organizationOption,
  },
  async run(installation, { options, positionals }) {
    if (options.name === undefined) return { problem: 'say who this is with --name <name>' }
    if (options.role === undefined) return { problem: `say what they may do with --role: ${ROLES.join(', ')}` }
    const organization = await findOrganization(installation, options.org as string | undefined)
    if (isProblem(organization)) return organization
    return addOperator(installation, {
      organizationId: organization.id,
      email: positionals[0]!,
      name: String(options.name),
      role: String(options.role),
      actor: cliActor(),
    })
  },
  render: ({ id, email, role }) => `Added ${email} as ${role}: ${id}`,
})

export const operatorsList = defineCommand<Operator[]>({
  name: 'operators list',
  summary: 'List the people who work for an organization',
  usage: 'operators list [--org <org>]',
  options: { org: organizationOption },
  async run(installation, { options }) {
    const organization = await findOrganization(installation, options.org as string | undefined)
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
