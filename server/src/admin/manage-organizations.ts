import { ENVIRONMENTS } from '../config.ts'
import type { Installation } from '../installation/installation.ts'
import {
  insertOrganization,
  listOrganizations,
  type Organization,
  organizationNamed,
} from '../store/control/organizations.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { contextOf, type InstallationAct, type OrganizationAct } from './act.ts'
import { installSandboxPolicy } from './install-sandbox-policy.ts'
import { conflict, invalid, notFound, type Problem } from './problem.ts'

const NAME_CHARACTERS_MAX = 255

/**
 * Creates an organization with a name that no other has. It is inserted last, so that an organization that was created
 * halfway is never seen; the database decides which of two that are created at once gets the name.
 */
export async function createOrganization(
  installation: Installation,
  act: InstallationAct,
  name: string,
): Promise<Organization> {
  const { storage, newId, nowMs } = installation
  if (name.length === 0 || name.length > NAME_CHARACTERS_MAX)
    throw invalid('name_invalid', `The name of an organization must have 1 to ${NAME_CHARACTERS_MAX} characters.`)
  const known = await organizationNamed(storage.control, name)
  if (known) throw nameTaken(name, known)
  const organization = { id: newId('org'), name, created_at: new Date(nowMs()).toISOString() }
  await prepareOrganization(installation, { ...act, organizationId: organization.id })
  if (!(await insertOrganization(storage.control, organization)))
    throw nameTaken(name, await organizationNamed(storage.control, name))
  return organization
}

/** `known` is absent if only the database takes the two names for the same: its lower() follows the locale of the server. */
function nameTaken(name: string, known: Organization | undefined): Problem {
  return conflict(
    'organization_exists',
    known
      ? `There is an organization ${known.name} already, with the id ${known.id}.`
      : `There is an organization ${name} already, in other capitals.`,
  )
}

/**
 * Writes what an organization begins with: the first entry of both its audit logs, and an active policy in its sandbox.
 * Called again with the same id, it writes only what is missing.
 */
export async function prepareOrganization(installation: Installation, act: OrganizationAct): Promise<void> {
  const { organizationId } = act
  const trail = { organizationId, trailId: organizationId, beforeSeq: undefined, limit: 1 }
  for (const environment of ENVIRONMENTS) {
    const store = installation.stores[environment]
    if ((await store.auditLog.trail(trail)).length > 0) continue
    const entry = auditEntryRow(contextOf(installation, act), {
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
export async function findOrganization({ storage }: Installation, wanted: string | undefined): Promise<Organization> {
  const organizations = await listOrganizations(storage.control)
  if (wanted === undefined) {
    const [only, ...others] = organizations
    if (!only) throw notFound('no_organization', 'There is no organization yet.')
    if (others.length > 0) {
      const names = organizations.map(({ name }) => JSON.stringify(name))
      throw invalid('organization_missing', `There are several organizations: ${names.join(', ')}.`)
    }
    return only
  }
  const matches = organizations.filter(({ id, name }) => id === wanted || name === wanted)
  if (matches.length === 0)
    throw notFound('organization_not_found', `There is no organization ${JSON.stringify(wanted)}.`)
  if (matches.length > 1)
    throw invalid('organization_ambiguous', `Several organizations are called ${JSON.stringify(wanted)}.`)
  return matches[0]!
}
