import { confirmOwnCodes, type ProposedCodes, proposeOwnCodes } from '../../admin/own-codes.ts'
import { Id, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { codesLockedUntil } from '../../store/control/operator-codes.ts'
import { findOperatorOfAccount, type Operator, operatorsOfAccount } from '../../store/control/operators.ts'
import { confirmPassword } from '../confirm-person.ts'
import { type AccountContext, defineAccountOperation, type Refusal } from '../define-operation.ts'
import { Code, CurrentPassword } from '../sign-in-fields.ts'

const organization_id = Id('org', 'The organization for which the codes count.')

/** Shows for which organizations the caller has codes for the command line. */
export const showCommandLineCodes = defineAccountOperation({
  summary: 'Show for which organizations the account has codes for the command line',
  input: Strict({}),
  audit: [],
  async handle({ installation, account }) {
    const { control } = installation.storage
    const operators = await operatorsOfAccount(control, account.accountId)
    const codes = operators.map(({ org_id, id }) =>
      codesLockedUntil(control, { organizationId: org_id, operatorId: id }),
    )
    const found = await Promise.all(codes)
    return {
      organizations: operators.map(({ org_id, organization_name }, index) => ({
        id: org_id,
        name: organization_name,
        has_codes: found[index] !== undefined,
      })),
    }
  },
})

/** Makes a secret for the caller's codes, to be confirmed with the first one. */
export const beginCommandLineCodes = defineAccountOperation({
  summary: 'Make a secret for codes of the command line',
  input: Strict({ organization_id, password: CurrentPassword }),
  audit: ['operator.sign_in_locked'],
  async handle(context): Promise<ProposedCodes | Refusal> {
    const { input, installation, account } = context
    const operator = await ownOperator(context)
    if ('problem' in operator) return operator
    const refused = await confirmPassword(context, input.password)
    return refused ?? proposeOwnCodes(installation, { operator, sessionId: account.sessionId })
  },
})

/** Lets the caller's codes count, with the first one. */
export const confirmCommandLineCodes = defineAccountOperation({
  summary: 'Set up codes for the command line',
  input: Strict({ organization_id, pending: Type.String({ minLength: 1, maxLength: 1_000 }), code: Code }),
  audit: ['operator.code_reset'],
  async handle(context): Promise<{ has_codes: true } | Refusal> {
    const { input, installation, account } = context
    const operator = await ownOperator(context)
    if ('problem' in operator) return operator
    const { pending, code } = input
    const refused = await confirmOwnCodes(installation, { operator, sessionId: account.sessionId, pending, code })
    return refused ?? { has_codes: true }
  },
})

async function ownOperator({
  installation,
  account,
  input,
}: AccountContext<{ organization_id: string }>): Promise<Operator | Refusal> {
  const { control } = installation.storage
  const operator = await findOperatorOfAccount(control, input.organization_id, account.accountId)
  return operator ?? { problem: 'You are no operator of this organization.', status: 404 }
}
