/** How a person whom the identity provider vouched for becomes an operator, and with which role. */

import { setRole } from '../admin/change-operators.ts'
import { entriesForAccount, installationEntry, operatorEntry } from '../admin/entries.ts'
import { membershipIn } from '../admin/memberships.ts'
import { conflict, forbidden, type Problem } from '../admin/problem.ts'
import type { OidcSettings } from '../config.ts'
import { emailFault, personNameFault } from '../core/person-rules.ts'
import type { Installation } from '../installation/installation.ts'
import {
  accountOfIdentity,
  deleteIdentities,
  type Identity,
  insertIdentity,
  whileIdentityHolds,
} from '../store/control/account-identities.ts'
import { type Account, findAccount, findAccountByEmail, insertAccount } from '../store/control/accounts.ts'
import {
  actsFor,
  findOperatorByEmail,
  findOperatorOfAccount,
  insertOperator,
  type NewOperatorRow,
  type Operator,
  ROLES,
  type Role,
  updateOperator,
  wasRemoved,
} from '../store/control/operators.ts'
import { listOrganizations } from '../store/control/organizations.ts'
import { listPasskeys } from '../store/control/passkeys.ts'
import { identityId } from '../store/power/power-tables.ts'
import { Undone, unlessUndone } from '../store/power/undone.ts'

/** A person as the identity provider describes them, after it proved who they are. */
export interface ProvedIdentity extends Identity {
  /** In its normal form, and not checked otherwise; null unless the provider says that it verified the address. */
  email: string | null
  /** As the provider has it, perhaps empty. */
  name: string
  groups: string[]
}

const ACTOR = { type: 'system', id: 'single-sign-on' } as const
const BY_GROUPS = 'the groups at the identity provider'

/** The organization that operators join by single sign-on: the one of the settings, or the oldest. */
export async function singleSignOnOrganization({ storage, config }: Installation): Promise<string | undefined> {
  const wanted = config.oidc?.organization
  const organizations = await listOrganizations(storage.control)
  if (wanted === undefined) return organizations[0]?.id
  const matches = organizations.filter(({ id, name }) => id === wanted || name === wanted)
  return matches.length === 1 ? matches[0]!.id : undefined
}

/** The highest role that the groups of a person give; undefined if they give none. */
export function roleOfGroups({ roles }: Pick<OidcSettings, 'roles'>, groups: readonly string[]): Role | undefined {
  const given = roles.filter(({ group }) => groups.includes(group)).map(({ role }) => role)
  return ROLES.find((role) => given.includes(role))
}

/**
 * Finds or makes the account of a person at the identity provider, and gives its operator the role of their groups. An
 * account that exists is never taken over because of its e-mail: its own person has to connect it.
 */
export async function admitIdentity(
  installation: Installation,
  identity: ProvedIdentity,
): Promise<{ accountId: string }> {
  const role = roleOfGroups(installation.config.oidc!, identity.groups)
  if (!role) throw forbidden('not_in_group', 'You are in none of the groups that may use this console.')
  const organizationId = await singleSignOnOrganization(installation)
  if (!organizationId)
    throw forbidden('organization_not_named', 'The setting OIDC_ORGANIZATION names no organization, or several.')
  const account = await accountFor(installation, identity)
  const operator = await operatorFor(installation, { organizationId, account, role, identity })
  // The last owner keeps the role: an organization without one could not be managed.
  if (operator.role !== role) {
    const act = { organizationId, by: ACTOR, channel: 'service', reason: BY_GROUPS } as const
    await setRole(installation, act, { operator, role })
  }
  return { accountId: account.id }
}

/** Lets the person at the identity provider sign in to the account of the person who is signed in, who asked for it. */
export async function connectIdentity(
  installation: Installation,
  { accountId, identity }: { accountId: string; identity: ProvedIdentity },
): Promise<void> {
  const { storage, nowMs } = installation
  const { issuer, subject } = identity
  const { control } = storage
  const created_at = new Date(nowMs()).toISOString()
  const entry = identityConnected(installation, accountId, identity)
  const entriesOf = await entriesForAccount(installation, accountId)
  const row = { issuer, subject, account_id: accountId, created_at }
  const added = control.seal('account_identities', await control.afterEndings('account_identities', row), entry)
  const isConnected = await control.recorded(async (transaction, record) => {
    if (!(await insertIdentity(transaction, added))) return false
    record(entry, ...entriesOf('operator.single_sign_on_connected', { issuer }))
    return true
  })
  if (!isConnected && (await accountOfIdentity(storage.control, identity)) !== accountId)
    throw forbidden('identity_connected', 'You sign in to another account with this identity already.')
}

/** Ends the sign-in through the provider for an account that has another way to sign in. */
export async function disconnectIdentities(installation: Installation, accountId: string): Promise<void> {
  const { control } = installation.storage
  const account = await findAccount(control, accountId)
  if (!account?.password_hash && (await listPasskeys(control, accountId)).length === 0)
    throw conflict('only_single_sign_on', 'Single sign-on is the only way to sign in to this account.')
  const entriesOf = await entriesForAccount(installation, accountId)
  const type = 'account.identities_disconnected'
  const entry = installationEntry(installation, { type, subjectId: accountId, data: {} })
  await control.recorded(async (transaction, record) => {
    const ended = await deleteIdentities(transaction, accountId)
    record(entry)
    if (ended > 0) record(...entriesOf('operator.single_sign_on_disconnected', {}))
  })
}

function identityConnected(installation: Installation, accountId: string, { issuer, subject }: Identity) {
  return installationEntry(installation, {
    type: 'account.identity_connected',
    subjectId: identityId(issuer, subject),
    data: { account_id: accountId, issuer },
  })
}

async function accountFor(installation: Installation, identity: ProvedIdentity): Promise<Account> {
  const { storage, newId, nowMs } = installation
  const known = await accountOfIdentity(storage.control, identity)
  const account = known && (await findAccount(storage.control, known))
  if (account) return account
  const { issuer, subject } = identity
  const email = usableEmail(identity)
  if (await findAccountByEmail(storage.control, email)) throw connectFirst()
  const added = {
    id: newId('acc'),
    email,
    name: personNameFault(identity.name) ? email : identity.name,
    password_hash: null,
    two_factor_since: null,
    created_at: new Date(nowMs()).toISOString(),
  }
  const created = installationEntry(installation, {
    type: 'account.created',
    subjectId: added.id,
    data: { method: 'oidc' },
  })
  const connected = identityConnected(installation, added.id, identity)
  const { control } = storage
  const isAdded = await unlessUndone(
    control.recorded(async (transaction, record) => {
      if (!(await insertAccount(transaction, control.seal('accounts', added, created)))) return false
      const { id: account_id, created_at } = added
      const row = { issuer, subject, account_id, created_at, after_entry_id: null }
      if (!(await insertIdentity(transaction, control.seal('account_identities', row, connected)))) throw new Undone()
      record(created, connected)
      return true
    }),
  )
  if (!isAdded) throw connectFirst()
  return { ...added, entry_id: created.entry.id }
}

async function operatorFor(
  installation: Installation,
  {
    organizationId,
    account,
    role,
    identity,
  }: { organizationId: string; account: Account; role: Role; identity: ProvedIdentity },
): Promise<Operator> {
  const { control } = installation.storage
  const { email: verifiedEmail } = identity
  const operator = await findOperatorOfAccount(control, organizationId, account.id)
  if (operator) return operator
  const membership = await membershipIn(installation, { organizationId, accountId: account.id, identity })
  if (membership === 'current') throw listChanged()
  // By the e-mail that the provider verified, and not the account's, which may come from an invitation.
  const invited = verifiedEmail && (await findOperatorByEmail(control, organizationId, verifiedEmail))
  if (invited && invited.disabled_at === null) return bind(installation, { operator: invited, account, identity })
  // By the row too, for an operator with this e-mail who never joined.
  if (membership === 'removed' || (await wasRemoved(control, { organizationId, email: verifiedEmail })))
    throw forbidden('membership_removed', 'You were removed from this organization.')
  const email = usableEmail(identity)
  const added: NewOperatorRow = {
    org_id: organizationId,
    id: installation.newId('opr'),
    email,
    name: account.name,
    role,
    created_at: new Date(installation.nowMs()).toISOString(),
    disabled_at: null,
    account_id: account.id,
  }
  const joined = operatorJoined(installation, added, account)
  const { mac, ...operatorAdded } = control.seal('operators', added, joined)
  const isAdded = await control.recorded(async (transaction, record) => {
    const isStored = await whileIdentityHolds(transaction, { ...identity, accountId: account.id }, () =>
      insertOperator(transaction, { ...operatorAdded, mac }),
    )
    if (isStored) record(joined)
    return isStored
  })
  if (!isAdded) throw listChanged()
  return operatorAdded
}

/** An operator without an account, such as an invited one: the verified e-mail shows that it is this person. */
async function bind(
  installation: Installation,
  { operator, account, identity }: { operator: Operator; account: Account; identity: ProvedIdentity },
): Promise<Operator> {
  if (operator.account_id !== null)
    throw forbidden('operator_of_another_account', 'Another account acts as the operator with your e-mail address.')
  const { control } = installation.storage
  const { org_id: organizationId } = operator
  const joined = operatorJoined(installation, operator, account)
  const { mac, ...bound } = control.seal('operators', { ...operator, account_id: account.id }, joined)
  const isBound = await control.recorded(async (transaction, record) => {
    const isStored = await whileIdentityHolds(transaction, { ...identity, accountId: account.id }, async () => {
      if (await actsFor(transaction, { organizationId, accountId: account.id })) return false
      return updateOperator(transaction, { ...bound, mac }, { was: operator.entry_id })
    })
    if (isStored) record(joined)
    return isStored
  })
  if (!isBound) throw listChanged()
  return bound
}

/** The e-mail by which a person becomes an account and an operator, under the rules that an invitation has. */
function usableEmail({ email }: ProvedIdentity): string {
  if (email === null)
    throw forbidden('email_not_verified', 'The identity provider did not confirm your e-mail address.')
  if (emailFault(email) !== undefined)
    throw forbidden(
      'email_not_plain',
      'The identity provider sent an e-mail address that this console does not accept: it has other characters than plain letters, digits and signs.',
    )
  return email
}

function connectFirst(): Problem {
  return forbidden('account_not_connected', 'There is an account with your e-mail address.')
}

function listChanged(): Problem {
  return forbidden(
    'list_changed',
    'There is an operator with your e-mail address already, or the list changed meanwhile.',
  )
}

function operatorJoined(installation: Installation, { org_id, id, role }: NewOperatorRow, account: Account) {
  const by = { organizationId: org_id, operatorId: id, actor: ACTOR }
  return operatorEntry(installation, by, { type: 'operator.joined', data: { role, account_id: account.id } })
}
