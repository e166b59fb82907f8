/**
 * For whom accounts act, by the log. A person with SQL can hide the row of an operator while another person acts: these
 * questions are about what must not happen then, so rows do not answer them.
 */
import type { Installation } from '../installation/installation.ts'
import type { Identity } from '../store/control/account-identities.ts'
import type { Membership } from '../store/environment/memberships.ts'
import { INSTALLATION_LOG, identityId } from '../store/power/power-tables.ts'

/** Whether an account acts for an organization, so that only its own sign-in may accept an invitation for it. */
export async function isInUse(installation: Installation, accountId: string): Promise<boolean> {
  return (await membershipsOf(installation, [accountId])).some(({ isRemoved }) => !isRemoved)
}

/** Whether an account acts for one organization, or did until its operator was removed; undefined if it never did. */
export async function membershipIn(
  installation: Installation,
  { organizationId, accountId, identity }: { organizationId: string; accountId: string; identity?: Identity },
): Promise<'current' | 'removed' | undefined> {
  const accounts = identity ? await accountsOf(installation, identity) : []
  const all = await membershipsOf(installation, [accountId, ...accounts])
  const own = all.filter((membership) => membership.organizationId === organizationId)
  if (own.length === 0) return undefined
  return own.every(({ isRemoved }) => isRemoved) ? 'removed' : 'current'
}

async function membershipsOf({ storage, stores }: Installation, accountIds: string[]): Promise<Membership[]> {
  await storage.control.recordQueued()
  return stores.production.grants.memberships(accountIds)
}

function accountsOf({ stores }: Installation, { issuer, subject }: Identity): Promise<string[]> {
  return stores.production.grants.accountsOfIdentity(INSTALLATION_LOG, identityId(issuer, subject))
}
