import { Id, NOT_BLANK, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { addPasskey, beginPasskey, removePasskey } from '../../sign-in/passkeys.ts'
import { disableTwoFactor, enableTwoFactor, proposeTwoFactor, renewRecoveryCodes } from '../../sign-in/two-factor.ts'
import { confirmPassword, withCode } from '../confirm-person.ts'
import { defineAccountOperation } from '../define-operation.ts'
import { Code, CurrentPassword, PasskeyAnswer } from '../sign-in-fields.ts'

/** Makes a secret for an authenticator app, to be confirmed with its first code. */
export const beginTwoFactor = defineAccountOperation({
  summary: 'Make a secret for an authenticator app',
  input: Strict({ password: CurrentPassword }),
  audit: ['operator.sign_in_locked'],
  async handle(context) {
    await confirmPassword(context, context.input.password)
    return proposeTwoFactor(context.installation, context.account)
  },
})

/** Turns two-factor on with a code of the new authenticator app. */
export const confirmTwoFactor = defineAccountOperation({
  summary: 'Turn two-factor on',
  input: Strict({ code: Code }),
  audit: ['operator.two_factor_enabled', 'operator.sign_in_locked'],
  async handle(context) {
    const { input, installation, account } = context
    return withCode(context, () => enableTwoFactor(installation, { accountId: account.accountId, code: input.code }))
  },
})

/** Turns two-factor off with a code. */
export const endTwoFactor = defineAccountOperation({
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
export const newRecoveryCodes = defineAccountOperation({
  summary: 'Replace the recovery codes',
  input: Strict({ code: Code }),
  audit: ['operator.recovery_codes_replaced', 'operator.recovery_code_used', 'operator.sign_in_locked'],
  async handle(context) {
    const { input, installation, account } = context
    return withCode(context, () => renewRecoveryCodes(installation, { accountId: account.accountId, code: input.code }))
  },
})

/** What the browser needs to make a passkey. */
export const beginAddPasskey = defineAccountOperation({
  summary: 'Begin to add a passkey',
  input: Strict({ password: CurrentPassword }),
  audit: ['operator.sign_in_locked'],
  async handle(context) {
    const { installation, account, origin, input } = context
    await confirmPassword(context, input.password)
    return { options: await beginPasskey(installation, { ...account, origin }) }
  },
})

/** Adds the passkey that the browser made. */
export const confirmPasskey = defineAccountOperation({
  summary: 'Add a passkey',
  input: Strict({
    name: Type.String({ minLength: 1, maxLength: 100, pattern: NOT_BLANK }),
    response: PasskeyAnswer,
  }),
  audit: ['operator.passkey_added'],
  async handle({ input, installation, account, origin }) {
    const { accountId } = account
    return addPasskey(installation, { accountId, name: input.name, response: input.response as never, origin })
  },
})

/** Removes a passkey. */
export const endPasskey = defineAccountOperation({
  summary: 'Remove a passkey',
  input: Strict({ passkey_id: Id('pky', 'The passkey to remove.') }),
  audit: ['operator.passkey_removed'],
  async handle({ input, installation, account }) {
    await removePasskey(installation, { accountId: account.accountId, id: input.passkey_id })
    return { removed: true as const }
  },
})
