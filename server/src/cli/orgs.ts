import { createOrganization } from '../admin/manage-organizations.ts'
import { listOrganizations, type Organization } from '../store/control/organizations.ts'
import { defineCommand, renderTable } from './command.ts'
import { commandAct } from './shared-options.ts'

export const orgsCreate = defineCommand<Organization>({
  name: 'orgs create',
  summary: 'Create an organization',
  usage: 'orgs create <name>',
  arguments: ['name'],
  run: (installation, input) => createOrganization(installation, commandAct(input, {}), input.positionals[0]!.trim()),
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
