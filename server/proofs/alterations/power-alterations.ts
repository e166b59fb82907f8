/** One row of each table that grants power, and the act that ends it or makes another version of it. */

import { changeRole } from '../../src/admin/change-operators.ts'
import { issueFirstLink } from '../../src/admin/first-link.ts'
import { acceptInvitation, inviteOperator, withdrawInvitation } from '../../src/admin/invitations.ts'
import { approveGate, closeGate } from '../../src/admin/manage-gate.ts'
import { createKey, revokeKey } from '../../src/admin/manage-keys.ts'
import { addOperator, resetCode } from '../../src/admin/manage-operators.ts'
import type { Installation } from '../../src/installation/installation.ts'
import { codeStep, oneTimeCode } from '../../src/security/one-time-code.ts'
import { SCOPES } from '../../src/security/scopes.ts'
import { changePassword } from '../../src/sign-in/change-password.ts'
import { removePasskey } from '../../src/sign-in/passkeys.ts'
import { beginSession, endSessions } from '../../src/sign-in/sessions.ts'
import { connectIdentity, disconnectIdentities } from '../../src/sign-in/single-sign-on.ts'
import {
  disableTwoFactor,
  enableTwoFactor,
  proposeTwoFactor,
  renewRecoveryCodes,
} from '../../src/sign-in/two-factor.ts'
import type { Operator } from '../../src/store/control/operators.ts'
import type { PowerTable } from '../../src/store/power/power-tables.ts'
import { activateDocument } from '../../tests/activate-document.ts'
import { byOperator, byService } from '../../tests/acts.ts'
import { addAccount, addPasskeyRow } from '../../tests/people.ts'
import { sandboxPolicy } from '../../tests/sandbox-policy.ts'

const CLIENT = { address: '127.0.0.1', userAgent: '' }
let people = 0

/** A row that was made, by its key, and what makes it an earlier version. */
export interface PowerScene {
  where: string
  key: string
  next: () => Promise<unknown>
  /** The act that ends it with all others of its owner, if that is another one. */
  endAll?: () => Promise<unknown>
}

/** Makes a row of each table for an organization. */
export const POWER_SCENES: Record<
  PowerTable,
  (installation: Installation, organizationId: string) => Promise<PowerScene>
> = {
  async api_keys(installation, organizationId) {
    const act = byService(organizationId)
    const { id } = await createKey(installation, act, { name: 'Proof', scopes: SCOPES, expiresAt: null })
    return { where: 'id = $1', key: id, next: () => revokeKey(installation, act, id) }
  },
  async operators(installation, organizationId) {
    const operator = await newOperator(installation, organizationId)
    const next = () => changeRole(installation, reasoned(organizationId), { operator, role: 'viewer' })
    return { where: 'id = $1', key: operator.id, next }
  },
  async operator_codes(installation, organizationId) {
    const operator = await newOperator(installation, organizationId)
    const next = () => resetCode(installation, byService(organizationId), operator)
    return { where: 'operator_id = $1', key: operator.id, next }
  },
  async invitations(installation, organizationId) {
    const invited = { email: newEmail(), name: 'Invited', role: 'admin' }
    const sent = await inviteOperator(installation, byService(organizationId), invited)
    const next = () => withdrawInvitation(installation, reasoned(organizationId), sent.operator)
    return { where: 'id = $1', key: sent.invitation_id, next }
  },
  async live_gate_approvals(installation, organizationId) {
    const operator = await newOperator(installation, organizationId)
    const document = { ...sandboxPolicy().document, version: 'live-1' }
    await activateDocument(installation, document, { organizationId, environment: 'production' })
    await approveGate(installation, byOperator(operator))
    const next = () => closeGate(installation, reasoned(organizationId))
    return { where: 'operator_id = $1', key: operator.id, next }
  },
  async first_link(installation) {
    await issueFirstLink(installation)
    return { where: '$1::text IS NOT NULL', key: 'the only one', next: () => issueFirstLink(installation) }
  },
  async accounts(installation) {
    const { id: accountId } = await newAccount(installation)
    const password = 'nine slow ferries north'
    const next = () => changePassword(installation, { accountId, sessionId: '', password })
    return { where: 'id = $1', key: accountId, next }
  },
  async account_codes(installation) {
    const { accountId, recoveryCode } = await withTwoFactor(installation)
    const next = () => disableTwoFactor(installation, { accountId, code: recoveryCode })
    return { where: 'account_id = $1', key: accountId, next }
  },
  async recovery_codes(installation) {
    const { accountId, recoveryCode } = await withTwoFactor(installation)
    const next = () => renewRecoveryCodes(installation, { accountId, code: recoveryCode })
    return { where: 'account_id = $1', key: accountId, next }
  },
  async passkeys(installation, organizationId) {
    const { id: accountId, email, created_at } = await newAccount(installation)
    const id = installation.newId('pky')
    await addPasskeyRow(installation, {
      id,
      account_id: accountId,
      credential_id: id,
      public_key: 'AAAA',
      sign_count: 0,
      transports: 'usb',
      name: 'Key',
      created_at,
      last_used_at: null,
    })
    const invited = { email, name: 'Invited', role: 'viewer' }
    const endAll = async () => {
      const sent = await inviteOperator(installation, byService(organizationId), invited)
      const token = sent.link.split('#')[1]!
      return acceptInvitation(installation, { token, name: 'Invited', password: 'nine slow ferries north' })
    }
    return { where: 'id = $1', key: id, next: () => removePasskey(installation, { accountId, id }), endAll }
  },
  async account_identities(installation) {
    const { id: accountId } = await newAccount(installation)
    const identity = { issuer: 'https://id.example.com', subject: accountId, email: null, name: 'P', groups: [] }
    await connectIdentity(installation, { accountId, identity })
    return { where: 'subject = $1', key: accountId, next: () => disconnectIdentities(installation, accountId) }
  },
  async sessions(installation) {
    const { id: accountId } = await newAccount(installation)
    await beginSession(installation, { accountId, method: 'password', client: CLIENT })
    return { where: 'account_id = $1', key: accountId, next: () => endSessions(installation, { accountId }) }
  },
}

function reasoned(organizationId: string) {
  return { ...byService(organizationId), reason: 'for a proof' }
}

function newEmail(): string {
  people += 1
  return `power-${people}@example.com`
}

async function newOperator(installation: Installation, organizationId: string): Promise<Operator> {
  return addOperator(installation, byService(organizationId), { email: newEmail(), name: 'Proof', role: 'admin' })
}

function newAccount(installation: Installation) {
  return addAccount(installation, {
    id: installation.newId('acc'),
    email: newEmail(),
    name: 'Proof',
    password_hash: 'x',
    created_at: new Date(installation.nowMs()).toISOString(),
  })
}

async function withTwoFactor(installation: Installation) {
  const { id: accountId, email } = await newAccount(installation)
  const { secret } = await proposeTwoFactor(installation, { accountId, email })
  const code = oneTimeCode(secret, codeStep(installation.nowMs()))
  const { recovery_codes } = await enableTwoFactor(installation, { accountId, code })
  return { accountId, recoveryCode: recovery_codes[0]! }
}
