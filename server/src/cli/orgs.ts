import { createOrganization } from '../admin/manage-organizations.ts'
import { listOrganizations, type Organization } from '../store/control/organizations.ts'
import { defineCommand, renderTable } from './command.ts'
import { osUser } from './os-user.ts'

export const orgsCreate = defineCommand<Organization>({
  name: 'orgs create',
  summary: 'Create an organization',
  usage: 'orgs create <name>',
  arguments: ['name'],
  async run(installation, input) {
    const name = input.positionals[0]!.trim()
    if (name.length === 0 || name.length > 255)
      return { problem: 'the name of an organization must have 1 to 255 characters' }
    return createOrganization(installation, { name, actor: osUser(input) })
  },
  render: ({ id, name }) => `Created organization ${name} with the id ${id}.`,
})

export const orgsList = defineCommand<Organization[]>({
  name: 'orgs list',
  summary: 'List organizations',
  usage: 'orgs list',
  run: ({ storage }) => listOrganizations(storage.control),
  render: (organizations) =>
    renderTable(
      ['ID', 'NAME', 'CREATED'],
      organizations.map(({ id, name, created_at }) => [id, name, created_at]),
    ),
})
