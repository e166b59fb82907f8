import { ENVIRONMENTS } from '../config.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Installation } from '../installation/installation.ts'
import {
  insertOrganization,
  listOrganizations,
  type Organization,
  organizationNamed,
} from '../store/control/organizations.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { installSandboxPolicy } from './install-sandbox-policy.ts'
import { recordContext } from './record-context.ts'

/**
 * Creates an organization with a name that no other has. It is inserted last, so that an organization that was created
 * halfway is never seen; the database decides which of two that are created at once gets the name.
 */
export async function createOrganization(
  installation: Installation,
  { name, actor }: { name: string; actor: AdminActor },
): Promise<Organization | { problem: string }> {
  const { storage, newId, nowMs } = installation
  const known = await organizationNamed(storage.control, name)
  if (known) return nameTaken(name, known)
  const organization = { id: newId('org'), name, created_at: new Date(nowMs()).toISOString() }
  await prepareOrganization(installation, { organizationId: organization.id, actor })
  const isInserted = await insertOrganization(storage.control, organization)
  return isInserted ? organization : nameTaken(name, await organizationNamed(storage.control, name))
}

/** `known` is absent if only the database takes the two names for the same: its lower() follows the locale of the server. */
function nameTaken(name: string, known: Organization | undefined): { problem: string } {
  return {
    problem: known
      ? `there is an organization ${known.name} already, with the id ${known.id}: choose another name`
      : `there is an organization ${name} already, in other capitals: choose another name`,
  }
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
    if ((await store.auditLog.trail(trail)).length > 0) continue
    const entry = auditEntryRow(recordContext(installation, { organizationId, actor }), {
      type: 'organization.created',
      trailId: organizationId,
      subject: { type: 'organization', id: organizationId },
      data: { organization_id: organizationId },
    })
    await commitOrThrow(store, { organizationId, auditEntries: [entry] })
  }
  if (!(await installation.stores.sandbox.policies.active(organizationId)))
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
      : {
          problem: `there are several organizations: say which with --org ${organizations.map(shownName).join(' or --org ')}`,
        }
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

/** The name of an organization as a shell takes it. */
function shownName({ name }: Organization): string {
  return JSON.stringify(name)
}
