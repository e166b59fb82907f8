import { Id, NOT_BLANK, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { addPasskey, beginPasskey, removePasskey } from '../../sign-in/passkeys.ts'
import { confirmPassword } from '../confirm-person.ts'
import { defineAccountOperation } from '../define-operation.ts'
import { CurrentPassword, PasskeyAnswer } from '../sign-in-fields.ts'

/** What the browser needs to make a passkey. */
const beginAddPasskey = defineAccountOperation({
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
const confirmPasskey = defineAccountOperation({
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
const endPasskey = defineAccountOperation({
  summary: 'Remove a passkey',
  input: Strict({ passkey_id: Id('pky', 'The passkey to remove.') }),
  audit: ['operator.passkey_removed'],
  async handle({ input, installation, account }) {
    await removePasskey(installation, { accountId: account.accountId, id: input.passkey_id })
    return { removed: true as const }
  },
})

/** The operations `passkeys.<verb>`. */
export const passkeys = {
  begin: beginAddPasskey,
  add: confirmPasskey,
  remove: endPasskey,
}
