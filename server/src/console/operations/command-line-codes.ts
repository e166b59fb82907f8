import { confirmOwnCodes, proposeOwnCodes } from '../../admin/own-codes.ts'
import { notFound } from '../../admin/problem.ts'
import { Id, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { codesLockedUntil } from '../../store/control/operator-codes.ts'
import { findOperatorOfAccount, type Operator, operatorsOfAccount } from '../../store/control/operators.ts'
import { confirmPassword } from '../confirm-person.ts'
import { type AccountContext, defineAccountOperation } from '../define-operation.ts'
import { Code, CurrentPassword } from '../sign-in-fields.ts'

const organization_id = Id('org', 'The organization for which the codes count.')

/** Shows for which organizations the caller has codes for the command line. */
const showCommandLineCodes = defineAccountOperation({
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
const beginCommandLineCodes = defineAccountOperation({
  summary: 'Make a secret for codes of the command line',
  input: Strict({ organization_id, password: CurrentPassword }),
  audit: ['operator.sign_in_locked'],
  async handle(context) {
    const { input, installation, account } = context
    const operator = await ownOperator(context)
    await confirmPassword(context, input.password)
    return proposeOwnCodes(installation, { operator, sessionId: account.sessionId })
  },
})

/** Lets the caller's codes count, with the first one. */
const confirmCommandLineCodes = defineAccountOperation({
  summary: 'Set up codes for the command line',
  input: Strict({ organization_id, pending: Type.String({ minLength: 1, maxLength: 1_000 }), code: Code }),
  audit: ['operator.code_reset'],
  async handle(context) {
    const { input, installation, account } = context
    const operator = await ownOperator(context)
    const { pending, code } = input
    await confirmOwnCodes(installation, { operator, sessionId: account.sessionId, pending, code })
    return { has_codes: true }
  },
})

async function ownOperator({
  installation,
  account,
  input,
}: AccountContext<{ organization_id: string }>): Promise<Operator> {
  const { control } = installation.storage
  const operator = await findOperatorOfAccount(control, input.organization_id, account.accountId)
  if (!operator) throw notFound('organization_not_found', 'You are no operator of this organization.')
  return operator
}

/** The operations `command-line-codes.<verb>`. */
export const commandLineCodes = {
  show: showCommandLineCodes,
  begin: beginCommandLineCodes,
  confirm: confirmCommandLineCodes,
}
