import { ENVIRONMENTS } from '../config.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Installation } from '../service/installation.ts'
import { insertOrganization, listOrganizations, type Organization } from '../store/queries/organizations.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { installSandboxPolicy } from './install-sandbox-policy.ts'
import { recordContext } from './record-context.ts'

/** Creates an organization: the first entry of both its audit logs, and an active policy in its sandbox. */
export async function createOrganization(
  installation: Installation,
  { name, actor }: { name: string; actor: AdminActor },
): Promise<Organization> {
  const { storage, stores, newId, nowMs } = installation
  const now = new Date(nowMs()).toISOString()
  const organization = { id: newId('org'), name, created_at: now }
  await insertOrganization(storage.control, organization)
  for (const environment of ENVIRONMENTS) {
    const entry = auditEntryRow(recordContext(installation, { organizationId: organization.id, actor }), {
      type: 'organization.created',
      trailId: organization.id,
      subject: { type: 'organization', id: organization.id },
      data: { organization_id: organization.id },
    })
    await stores[environment].commit({ organizationId: organization.id, auditEntries: [entry] })
  }
  await installSandboxPolicy(installation, organization.id)
  return organization
}

/** Finds an organization by its id or its name; without either, the only organization there is. */
export async function findOrganization(
  { storage }: Installation,
  wanted: string | undefined,
): Promise<Organization | { problem: string }> {
  const organizations = await listOrganizations(storage.control)
  if (wanted === undefined) {
    const [only, ...others] = organizations
    if (!only) return { problem: 'there is no organization yet: create one with orgs create <name>' }
    return others.length === 0
      ? only
      : { problem: 'there are several organizations: say which with --org <id or name>' }
  }
  const matches = organizations.filter(({ id, name }) => id === wanted || name === wanted)
  if (matches.length === 1) return matches[0]!
  return {
    problem:
      matches.length === 0
        ? `there is no organization ${JSON.stringify(wanted)}: orgs list shows them`
        : `several organizations are called ${JSON.stringify(wanted)}: use the id`,
  }
}
