import { notFound } from '../../admin/problem.ts'
import { Strict } from '../../core/schema/fields.ts'
import { openChallenge } from '../../sign-in/challenges.ts'
import { disconnectIdentities } from '../../sign-in/single-sign-on.ts'
import { hasIdentity } from '../../store/control/account-identities.ts'
import { confirmPassword } from '../confirm-person.ts'
import { defineAccountOperation } from '../define-operation.ts'
import { CurrentPassword } from '../sign-in-fields.ts'

/** Whether the caller's account is connected to the identity provider. */
const showSingleSignOn = defineAccountOperation({
  summary: 'Show whether the account is connected to the identity provider',
  input: Strict({}),
  audit: [],
  async handle({ installation, account }) {
    const { oidc } = installation.config
    return {
      provider: oidc ? new URL(oidc.issuer).host : null,
      is_connected: await hasIdentity(installation.storage.control, account.accountId),
    }
  },
})

/** Begins to connect the caller's account to the identity provider. */
const connectSingleSignOn = defineAccountOperation({
  summary: 'Begin to connect the account to the identity provider',
  input: Strict({ password: CurrentPassword }),
  audit: ['operator.sign_in_locked'],
  async handle(context) {
    const { installation, account, input } = context
    if (!installation.config.oidc) throw notFound('single_sign_on_off', 'Single sign-on is not configured.')
    await confirmPassword(context, input.password)
    const challenge = await openChallenge(installation, { purpose: 'oidc_connect', accountId: account.accountId })
    return { path: `/api/oidc/start?connect=${challenge}` }
  },
})

/** Disconnects the caller's account from the identity provider. */
const disconnectSingleSignOn = defineAccountOperation({
  summary: 'Disconnect the account from the identity provider',
  input: Strict({}),
  audit: ['operator.single_sign_on_disconnected'],
  async handle({ installation, account }) {
    await disconnectIdentities(installation, account.accountId)
    return { is_connected: false }
  },
})

/** The operations `single-sign-on.<verb>`. */
export const singleSignOn = {
  show: showSingleSignOn,
  connect: connectSingleSignOn,
  disconnect: disconnectSingleSignOn,
}
