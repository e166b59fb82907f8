import { acceptFirstLink, checkFirstLink } from '../../admin/first-link.ts'
import { keyId } from '../../core/audit/checkpoint.ts'
import { Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { firstOrganizationId } from '../../store/control/organizations.ts'
import { defineOpenOperation } from '../define-operation.ts'
import { Name, NewPassword, Token } from '../sign-in-fields.ts'

/** Whether the link of the first start still works, and what the first start made. */
const checkWelcome = defineOpenOperation({
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
const acceptWelcome = defineOpenOperation({
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

/** The operations `welcome.<verb>`. */
export const welcome = {
  check: checkWelcome,
  accept: acceptWelcome,
}
