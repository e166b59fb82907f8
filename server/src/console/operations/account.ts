import { permissionsOf } from '../../admin/permissions.ts'
import { notFound } from '../../admin/problem.ts'
import { requireValidName } from '../../admin/require-valid-operator.ts'
import { Id, NOT_BLANK, Nullable, OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { NUMBER_NOTATIONS } from '../../core/vocabularies.ts'
import { changeNumberNotation } from '../../sign-in/change-number-notation.ts'
import { changePassword } from '../../sign-in/change-password.ts'
import { passkeyFault } from '../../sign-in/passkeys.ts'
import { endSession, endSessions } from '../../sign-in/sessions.ts'
import { twoFactorStatus } from '../../sign-in/two-factor.ts'
import { numberNotationOf } from '../../store/control/account-preferences.ts'
import { findAccount, renameAccount } from '../../store/control/accounts.ts'
import { operatorsOfAccount } from '../../store/control/operators.ts'
import { listPasskeys } from '../../store/control/passkeys.ts'
import { listSessions } from '../../store/control/sessions.ts'
import { confirmPassword } from '../confirm-person.ts'
import { defineAccountOperation } from '../define-operation.ts'
import { deviceOf } from '../device-of.ts'

/** The caller's account, and the organizations it acts for with the permissions of its role in each. */
const showMe = defineAccountOperation({
  summary: 'Show who is signed in, and for which organizations',
  input: Strict({}),
  audit: [],
  async handle({ installation, account }) {
    const { control } = installation.storage
    const { accountId, email, name } = account
    const [operators, notation] = await Promise.all([
      operatorsOfAccount(control, accountId),
      numberNotationOf(control, accountId),
    ])
    return {
      /** `number_notation` is null where the person leaves it to the browser. */
      account: { id: accountId, email, name, number_notation: notation },
      session_id: account.sessionId,
      organizations: operators.map(({ org_id, organization_name, id, role }) => ({
        id: org_id,
        name: organization_name,
        operator_id: id,
        role,
        permissions: permissionsOf(role),
      })),
    }
  },
})

/** How the caller signs in: password, two-factor and passkeys. */
const showSecurity = defineAccountOperation({
  summary: 'Show how the account signs in',
  input: Strict({}),
  audit: [],
  async handle({ installation, account, origin }) {
    const { control } = installation.storage
    const stored = await findAccount(control, account.accountId)
    const passkeys = await listPasskeys(control, account.accountId)
    return {
      has_password: stored?.password_hash !== null,
      two_factor: await twoFactorStatus(installation, account.accountId),
      passkeys: passkeys.map(({ id, name, created_at, last_used_at }) => ({ id, name, created_at, last_used_at })),
      passkeys_impossible: passkeyFault(origin) ?? null,
    }
  },
})

/** Changes the name of the caller's account. */
const rename = defineAccountOperation({
  summary: 'Change the name of the account',
  input: Strict({ name: Type.String({ minLength: 1, maxLength: 255, pattern: NOT_BLANK }) }),
  audit: [],
  async handle({ input, installation, account }) {
    const name = input.name.trim()
    requireValidName(name)
    await renameAccount(installation.storage.control, { id: account.accountId, name })
    return { name }
  },
})

/** Changes the notation in which the caller writes and reads numbers. */
const setNumberNotation = defineAccountOperation({
  summary: 'Change how the console writes and reads numbers',
  input: Strict({ notation: Nullable(OneOf(NUMBER_NOTATIONS)) }),
  audit: ['operator.number_notation_changed'],
  async handle({ input: { notation }, installation, account }) {
    await changeNumberNotation(installation, { accountId: account.accountId, notation })
    return { notation }
  },
})

/** Changes the password of the caller's account, and ends its other sessions. */
const newPassword = defineAccountOperation({
  summary: 'Change the password',
  input: Strict({
    current_password: Type.String({ minLength: 1, maxLength: 1_024 }),
    new_password: Type.String({ minLength: 1, maxLength: 1_024 }),
  }),
  audit: ['operator.password_changed', 'operator.sign_in_locked'],
  async handle(context) {
    const { input, installation, account } = context
    await confirmPassword(context, input.current_password)
    const { accountId, sessionId } = account
    return changePassword(installation, { accountId, sessionId, password: input.new_password })
  },
})

/** Lists the browsers in which the caller is signed in. */
const showSessions = defineAccountOperation({
  summary: 'List the sessions of the account',
  input: Strict({}),
  audit: [],
  async handle({ installation, account, now }) {
    const sessions = await listSessions(installation.storage.control, { accountId: account.accountId, now })
    return {
      sessions: sessions.map(({ id, method, address, user_agent, created_at, last_used_at }) => ({
        id,
        device: deviceOf(user_agent),
        method,
        address,
        created_at,
        last_used_at,
        is_this_one: id === account.sessionId,
      })),
    }
  },
})

/** Ends one session of the caller. */
const endOneSession = defineAccountOperation({
  summary: 'End a session',
  input: Strict({ session_id: Id('ses', 'The session to end.') }),
  audit: ['operator.session_ended'],
  async handle({ input, installation, account, session }) {
    if (input.session_id === account.sessionId) {
      await session.end()
      return { ended: 1 }
    }
    const isEnded = await endSession(installation, { accountId: account.accountId, sessionId: input.session_id })
    if (!isEnded) throw notFound('session_not_found', 'This session has ended already.')
    return { ended: 1 }
  },
})

/** Ends all sessions of the caller but this one. */
const endOtherSessions = defineAccountOperation({
  summary: 'End all other sessions',
  input: Strict({}),
  audit: ['operator.session_ended'],
  async handle({ installation, account }) {
    return { ended: await endSessions(installation, { accountId: account.accountId, except: account.sessionId }) }
  },
})

/** The operations `account.<verb>`. */
export const account = {
  show: showMe,
  'show-security': showSecurity,
  rename,
  'set-number-notation': setNumberNotation,
  'change-password': newPassword,
  'list-sessions': showSessions,
  'end-session': endOneSession,
  'end-other-sessions': endOtherSessions,
}
