import { normalizedEmail } from '../core/person-rules.ts'
import type { Installation } from '../installation/installation.ts'
import { hashPassword } from '../security/password.ts'
import { generateToken, hashToken } from '../security/secret-token.ts'
import { insertAccount, type NewAccount } from '../store/control/accounts.ts'
import { firstLinkExpiry, hasOwner, replaceFirstLink, takeFirstLink } from '../store/control/first-link.ts'
import { insertOperator, type NewOperatorRow } from '../store/control/operators.ts'
import { firstOrganizationId, organizationNamed, renameOrganization } from '../store/control/organizations.ts'
import type { Database } from '../store/database/database.ts'
import { Undone, unlessUndone } from '../store/power/undone.ts'
import { installationEntry, operatorEntry } from './entries.ts'
import { conflict, notFound, type Problem } from './problem.ts'
import { requireValidOperator, requireValidPassword } from './require-valid-operator.ts'

const VALID_HOURS = 48
const HOUR_MS = 3_600_000
/** How entries name the link: there is one at most. */
const FIRST_LINK = 'first_link'

/** The link that makes the first owner; only a hash of it is stored. */
export interface FirstLink {
  link: string
  expires_at: string
}

/** Makes the link for the first owner, in place of any earlier one. */
export async function issueFirstLink(installation: Installation): Promise<FirstLink> {
  const { storage, config, nowMs, masterKey } = installation
  if (await hasOwner(storage.control, await firstOrganizationId(storage.control)))
    throw conflict('owner_exists', 'There is an owner already, who can sign in.')
  const token = generateToken()
  const expiresAt = new Date(nowMs() + VALID_HOURS * HOUR_MS).toISOString()
  const { control } = storage
  const link = { token_hash: hashToken(masterKey, 'first link', token), expires_at: expiresAt }
  const entry = installationEntry(installation, {
    type: 'first_link.made',
    subjectId: FIRST_LINK,
    data: { expires_at: expiresAt },
  })
  await control.recorded(async (transaction, record) => {
    await replaceFirstLink(transaction, control.seal('first_link', link, entry))
    record(entry)
  })
  // In the fragment, which browsers do not send: neither a log nor a Referer header has it.
  return { link: `${config.baseUrls.console}/welcome#${token}`, expires_at: expiresAt }
}

/** When the link for the first owner expires, if it still works. */
export async function checkFirstLink(
  { storage, nowMs, masterKey }: Installation,
  token: string,
): Promise<{ expires_at: string }> {
  if (await hasOwner(storage.control, await firstOrganizationId(storage.control))) throw linkEnded()
  const now = new Date(nowMs()).toISOString()
  const expiresAt = await firstLinkExpiry(storage.control, {
    tokenHash: hashToken(masterKey, 'first link', token),
    now,
  })
  if (expiresAt === undefined) throw linkEnded()
  return { expires_at: expiresAt }
}

/** The first owner of an installation, and the name of their organization. */
export interface FirstOwner {
  email: string
  name: string
  password: string
  /** Left out, the organization keeps the name that the first start gave it. */
  organization?: string
}

/** Makes the first owner, with an account; returns the id of the account. */
export async function acceptFirstLink(
  installation: Installation,
  { token, email, name, password, organization = '' }: FirstOwner & { token: string },
): Promise<{ accountId: string; organizationId: string }> {
  const { storage, newId, nowMs } = installation
  await checkFirstLink(installation, token)
  const now = new Date(nowMs()).toISOString()
  const owner: NewOperatorRow = {
    org_id: await firstOrganizationId(storage.control),
    id: newId('opr'),
    email: normalizedEmail(email),
    name: name.trim(),
    role: 'owner',
    created_at: now,
    disabled_at: null,
    account_id: newId('acc'),
  }
  requireValidOperator(owner)
  requireValidPassword(password, owner)
  await requireFreeName(storage.control, { id: owner.org_id, name: organization.trim() })
  const account = {
    id: owner.account_id!,
    email: owner.email,
    name: owner.name,
    password_hash: await hashPassword(password),
    two_factor_since: null,
    created_at: now,
  }
  const used = await makeOwner(installation, { token, account, owner, now })
  if (used === 'email_taken') throw conflict('email_taken', 'There is an account with this e-mail.')
  if (used === 'no_link') throw linkEnded()
  // The owner exists by now. If another organization took the name meanwhile, theirs keeps the one that it has.
  if (organization.trim() !== '')
    await renameOrganization(storage.control, { id: owner.org_id, name: organization.trim() })
  return { accountId: account.id, organizationId: owner.org_id }
}

/** Deletes the first link, and adds the owner with an account: all or nothing. */
async function makeOwner(
  installation: Installation,
  { token, account, owner, now }: { token: string; account: NewAccount; owner: NewOperatorRow; now: string },
): Promise<'used' | 'no_link' | 'email_taken'> {
  const { storage, masterKey } = installation
  const { control } = storage
  const joined = operatorEntry(
    installation,
    { organizationId: owner.org_id, operatorId: owner.id, actor: { type: 'system', id: 'first-link' } },
    { type: 'operator.joined', data: { role: owner.role, account_id: account.id } },
  )
  const created = installationEntry(installation, {
    type: 'account.created',
    subjectId: account.id,
    data: { method: 'first_link' },
  })
  const used = installationEntry(installation, {
    type: 'first_link.used',
    subjectId: FIRST_LINK,
    data: { account_id: account.id },
  })
  const result = await unlessUndone(
    control.recorded(async (transaction, record) => {
      if (!(await insertAccount(transaction, control.seal('accounts', account, created)))) return 'email_taken'
      const link = { organizationId: owner.org_id, tokenHash: hashToken(masterKey, 'first link', token), now }
      if (!(await takeFirstLink(transaction, link))) throw new Undone()
      await insertOperator(transaction, control.seal('operators', owner, joined))
      record(created, joined, used)
      return 'used'
    }),
  )
  return result || 'no_link'
}

async function requireFreeName(control: Database, { id, name }: { id: string; name: string }): Promise<void> {
  const known = name === '' ? undefined : await organizationNamed(control, name)
  if (known && known.id !== id) throw conflict('organization_exists', `There is an organization ${known.name} already.`)
}

function linkEnded(): Problem {
  return notFound(
    'first_link_ended',
    'This link does not work any more: it was used or has expired, or there is an owner already.',
  )
}
