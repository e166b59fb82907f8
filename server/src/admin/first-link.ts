import { normalizedEmail } from '../core/person-rules.ts'
import type { Installation } from '../installation/installation.ts'
import { generateToken, hashToken } from '../security/bearer-token.ts'
import { hashPassword } from '../security/password.ts'
import { passwordProblem } from '../security/password-rules.ts'
import { insertAccount, type NewAccount } from '../store/control/accounts.ts'
import { firstLinkExpiry, hasOwner, replaceFirstLink, takeFirstLink } from '../store/control/first-link.ts'
import { insertOperator, type NewOperatorRow } from '../store/control/operators.ts'
import { firstOrganizationId, organizationNamed, renameOrganization } from '../store/control/organizations.ts'
import type { Database } from '../store/database/database.ts'
import { Undone, unlessUndone } from '../store/power/undone.ts'
import { installationEntry, operatorEntry } from './entries.ts'
import { operatorProblem } from './manage-operators.ts'

const VALID_HOURS = 48
const HOUR_MS = 3_600_000
/** How entries name the link: there is one at most. */
const FIRST_LINK = 'first_link'

/** The link that makes the first owner; only a hash of it is stored. */
export interface FirstLink {
  link: string
  expires_at: string
}

/** Makes the link for the first owner, in place of any earlier one; a problem once there is an owner. */
export async function issueFirstLink(installation: Installation): Promise<FirstLink | { problem: string }> {
  const { storage, config, nowMs, masterKey } = installation
  if (await hasOwner(storage.control, await firstOrganizationId(storage.control)))
    return { problem: 'there is an owner already: they can sign in, or operators invite makes a link for a person' }
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

/** When the link for the first owner expires; a problem if it does not work any more. */
export async function checkFirstLink(
  { storage, nowMs, masterKey }: Installation,
  token: string,
): Promise<{ expires_at: string } | { problem: string }> {
  if (await hasOwner(storage.control, await firstOrganizationId(storage.control))) return NO_LINK
  const now = new Date(nowMs()).toISOString()
  const expiresAt = await firstLinkExpiry(storage.control, {
    tokenHash: hashToken(masterKey, 'first link', token),
    now,
  })
  return expiresAt === undefined ? NO_LINK : { expires_at: expiresAt }
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
): Promise<{ accountId: string; organizationId: string } | { problem: string }> {
  const { storage, newId, nowMs } = installation
  const link = await checkFirstLink(installation, token)
  if ('problem' in link) return link
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
  const problem =
    operatorProblem(owner) ??
    passwordProblem(password, owner) ??
    (await organizationNameProblem(storage.control, { id: owner.org_id, name: organization.trim() }))
  if (problem !== undefined) return { problem }
  const account = {
    id: owner.account_id!,
    email: owner.email,
    name: owner.name,
    password_hash: await hashPassword(password),
    two_factor_since: null,
    created_at: now,
  }
  const used = await makeOwner(installation, { token, account, owner, now })
  if (used === 'email_taken') return { problem: 'There is an account with this e-mail: ask for an invitation.' }
  if (used === 'no_link') return NO_LINK
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

async function organizationNameProblem(
  control: Database,
  { id, name }: { id: string; name: string },
): Promise<string | undefined> {
  const known = name === '' ? undefined : await organizationNamed(control, name)
  return known === undefined || known.id === id
    ? undefined
    : `There is an organization ${known.name} already: choose another name.`
}

const NO_LINK = {
  problem:
    'This link does not work any more: it was used or has expired, or there is an owner already. npm run cli -- operators first-link makes another while there is none.',
}
