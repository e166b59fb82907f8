import { ENVIRONMENTS } from '../config.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Installation } from '../service/installation.ts'
import { insertOrganization, listOrganizations, type Organization } from '../store/queries/organizations.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { installSandboxPolicy } from './install-sandbox-policy.ts'
import { recordContext } from './record-context.ts'

/** Creates an organization. It is inserted last, so that an organization that was created halfway is never seen. */
export async function createOrganization(
  installation: Installation,
  { name, actor }: { name: string; actor: AdminActor },
): Promise<Organization> {
  const { storage, newId, nowMs } = installation
  const organization = { id: newId('org'), name, created_at: new Date(nowMs()).toISOString() }
  await prepareOrganization(installation, { organizationId: organization.id, actor })
  await insertOrganization(storage.control, organization)
  return organization
}

/**
 * Writes what an organization begins with: the first entry of both its audit logs, and an active policy in its sandbox.
 * Called again with the same id, it writes only what is missing.
 */
export async function prepareOrganization(
  installation: Installation,
  { organizationId, actor }: { organizationId: string; actor: AdminActor },
): Promise<void> {
  const trail = { organizationId, trailId: organizationId, beforeSeq: undefined, limit: 1 }
  for (const environment of ENVIRONMENTS) {
    const store = installation.stores[environment]
    if ((await store.auditTrail(trail)).length > 0) continue
    const entry = auditEntryRow(recordContext(installation, { organizationId, actor }), {
      type: 'organization.created',
      trailId: organizationId,
      subject: { type: 'organization', id: organizationId },
      data: { organization_id: organizationId },
    })
    await store.commit({ organizationId, auditEntries: [entry] })
  }
  if (!(await installation.stores.sandbox.activePolicy(organizationId)))
    await installSandboxPolicy(installation, organizationId)
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
