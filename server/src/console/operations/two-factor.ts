import { Strict } from '../../core/schema/fields.ts'
import { disableTwoFactor, enableTwoFactor, proposeTwoFactor, renewRecoveryCodes } from '../../sign-in/two-factor.ts'
import { confirmPassword, withCode } from '../confirm-person.ts'
import { defineAccountOperation } from '../define-operation.ts'
import { Code, CurrentPassword } from '../sign-in-fields.ts'

/** Makes a secret for an authenticator app, to be confirmed with its first code. */
const beginTwoFactor = defineAccountOperation({
  summary: 'Make a secret for an authenticator app',
  input: Strict({ password: CurrentPassword }),
  audit: ['operator.sign_in_locked'],
  async handle(context) {
    await confirmPassword(context, context.input.password)
    return proposeTwoFactor(context.installation, context.account)
  },
})

/** Turns two-factor on with a code of the new authenticator app. */
const confirmTwoFactor = defineAccountOperation({
  summary: 'Turn two-factor on',
  input: Strict({ code: Code }),
  audit: ['operator.two_factor_enabled', 'operator.sign_in_locked'],
  async handle(context) {
    const { input, installation, account } = context
    return withCode(context, () => enableTwoFactor(installation, { accountId: account.accountId, code: input.code }))
  },
})

/** Turns two-factor off with a code. */
const endTwoFactor = defineAccountOperation({
  summary: 'Turn two-factor off',
  input: Strict({ code: Code }),
  audit: ['operator.two_factor_disabled', 'operator.recovery_code_used', 'operator.sign_in_locked'],
  async handle(context) {
    const { input, installation, account } = context
    await withCode(context, () => disableTwoFactor(installation, { accountId: account.accountId, code: input.code }))
    return { enabled: false as const }
  },
})

/** Makes other recovery codes with a code. */
const newRecoveryCodes = defineAccountOperation({
  summary: 'Replace the recovery codes',
  input: Strict({ code: Code }),
  audit: ['operator.recovery_codes_replaced', 'operator.recovery_code_used', 'operator.sign_in_locked'],
  async handle(context) {
    const { input, installation, account } = context
    return withCode(context, () => renewRecoveryCodes(installation, { accountId: account.accountId, code: input.code }))
  },
})

/** The operations `two-factor.<verb>`. */
export const twoFactor = {
  begin: beginTwoFactor,
  confirm: confirmTwoFactor,
  end: endTwoFactor,
  'renew-recovery-codes': newRecoveryCodes,
}
