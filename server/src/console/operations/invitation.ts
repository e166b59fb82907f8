import { acceptInvitation, joinByInvitation, openInvitation } from '../../admin/invitations.ts'
import { Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { defineAccountOperation, defineOpenOperation } from '../define-operation.ts'
import { Code, Name, NewPassword, Token } from '../sign-in-fields.ts'

/** Of an operator who has one-time codes for the command line. */
const OperatorCode = Type.Optional(Code)

/** Shows an invitation to the person who opened its link. */
const showInvitation = defineOpenOperation({
  summary: 'Show the invitation of a link',
  input: Strict({ token: Token }),
  audit: [],
  handle: ({ input, installation }) => openInvitation(installation, input.token),
})

/** Accepts an invitation with a new account, and signs its person in. */
const acceptByNewAccount = defineOpenOperation({
  summary: 'Accept an invitation with a new account',
  input: Strict({ token: Token, name: Name, password: NewPassword, code: OperatorCode }),
  audit: ['operator.joined', 'operator.signed_in', 'operator.code_locked'],
  async handle({ input, installation, session }) {
    const { accountId, organizationId } = await acceptInvitation(installation, input)
    await session.begin(accountId, 'invitation')
    return { organization_id: organizationId }
  },
})

/** Accepts an invitation with the account that is signed in. */
const acceptByThisAccount = defineAccountOperation({
  summary: 'Accept an invitation with the account that is signed in',
  input: Strict({ token: Token, code: OperatorCode }),
  audit: ['operator.joined', 'operator.code_locked'],
  async handle({ input, installation, account }) {
    const { accountId, sessionId } = account
    const { organizationId } = await joinByInvitation(installation, { ...input, accountId, sessionId })
    return { organization_id: organizationId }
  },
})

/** The operations `invitation.<verb>`. */
export const invitation = {
  show: showInvitation,
  accept: acceptByNewAccount,
  join: acceptByThisAccount,
}
