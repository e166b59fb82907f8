import { acceptFirstLink, checkFirstLink } from '../../admin/first-link.ts'
import { acceptInvitation, joinByInvitation, openInvitation } from '../../admin/invitations.ts'
import { keyId } from '../../core/audit/checkpoint.ts'
import { Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { firstOrganizationId } from '../../store/control/organizations.ts'
import { defineAccountOperation, defineOpenOperation } from '../define-operation.ts'
import { Code } from '../sign-in-fields.ts'

/** What a one-time link holds behind its `#`. */
const Token = Type.String({ minLength: 1, maxLength: 100 })
const Name = Type.String({ minLength: 1, maxLength: 255 })
/** Bounded here only so that a request stays small; `passwordProblem` says what a password must be. */
const NewPassword = Type.String({ minLength: 1, maxLength: 1_024 })
/** Of an operator who has one-time codes for the command line. */
const OperatorCode = Type.Optional(Code)

/** Whether the link of the first start still works, and what the first start made. */
export const checkWelcome = defineOpenOperation({
  summary: 'Check the link for the first owner',
  input: Strict({ token: Token }),
  audit: [],
  async handle({ input, installation }) {
    const { expires_at } = await checkFirstLink(installation, input.token)
    const { storage, stores, masterKey } = installation
    const policy = await stores.sandbox.policies.active(await firstOrganizationId(storage.control))
    return {
      expires_at,
      storage: storage.embedded ? ('embedded' as const) : ('postgresql' as const),
      sandbox_policy: policy?.version ?? null,
      audit_key_id: keyId(masterKey.auditSigningKey('production').publicKey),
    }
  },
})

/** Makes the first owner, and signs them in. */
export const acceptWelcome = defineOpenOperation({
  summary: 'Become the first owner',
  input: Strict({
    token: Token,
    email: Type.String({ minLength: 1, maxLength: 254 }),
    name: Name,
    password: NewPassword,
    organization: Type.Optional(Name),
  }),
  audit: ['operator.joined', 'operator.signed_in'],
  async handle({ input, installation, session }) {
    const { accountId, organizationId } = await acceptFirstLink(installation, input)
    await session.begin(accountId, 'first_link')
    return { organization_id: organizationId }
  },
})

/** Shows an invitation to the person who opened its link. */
export const showInvitation = defineOpenOperation({
  summary: 'Show the invitation of a link',
  input: Strict({ token: Token }),
  audit: [],
  handle: ({ input, installation }) => openInvitation(installation, input.token),
})

/** Accepts an invitation with a new account, and signs its person in. */
export const acceptByNewAccount = defineOpenOperation({
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
export const acceptByThisAccount = defineAccountOperation({
  summary: 'Accept an invitation with the account that is signed in',
  input: Strict({ token: Token, code: OperatorCode }),
  audit: ['operator.joined', 'operator.code_locked'],
  async handle({ input, installation, account }) {
    const { accountId, sessionId } = account
    const { organizationId } = await joinByInvitation(installation, { ...input, accountId, sessionId })
    return { organization_id: organizationId }
  },
})
