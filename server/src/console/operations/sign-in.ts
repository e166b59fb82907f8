import { notSignedIn, type Problem } from '../../admin/problem.ts'
import { normalizedEmail } from '../../core/person-rules.ts'
import { Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { networkOf } from '../../http/network-of.ts'
import { beginAttempt, endAttempt } from '../../sign-in/attempts.ts'
import { accountOfChallenge, closeChallenge, openChallenge } from '../../sign-in/challenges.ts'
import { checkPassword } from '../../sign-in/check-password.ts'
import { beginPasskeySignIn, checkPasskey, passkeyFault } from '../../sign-in/passkeys.ts'
import { checkCode, needsCode } from '../../sign-in/two-factor.ts'
import { findAccount } from '../../store/control/accounts.ts'
import { attemptFrom } from '../attempt-from.ts'
import { defineAccountOperation, defineOpenOperation } from '../define-operation.ts'
import { Code, PasskeyAnswer } from '../sign-in-fields.ts'

/** How people may sign in, for the page that asks them. */
const showSignInOptions = defineOpenOperation({
  summary: 'Show whether single sign-on is configured, and why passkeys are impossible',
  input: Strict({}),
  audit: [],
  async handle({ installation, origin }) {
    const { oidc } = installation.config
    return {
      single_sign_on: oidc ? { provider: new URL(oidc.issuer).host } : null,
      passkeys_impossible: passkeyFault(origin) ?? null,
    }
  },
})

/** Signs a person in by e-mail and password, or asks for the code of their authenticator app. */
const signInWithPassword = defineOpenOperation({
  summary: 'Sign in with e-mail and password',
  input: Strict({
    email: Type.String({ minLength: 1, maxLength: 254 }),
    password: Type.String({ minLength: 1, maxLength: 1_024 }),
  }),
  audit: ['operator.signed_in', 'operator.sign_in_locked'],
  async handle(context): Promise<{ code_needed: false } | { code_needed: true; challenge: string }> {
    const { input, installation, session } = context
    const email = normalizedEmail(input.email.trim())
    const attempt = attemptFrom(context, email)
    const account = await checkPassword(installation, attempt, {
      email,
      password: input.password,
      network: networkOf(context.client.address),
    })
    // The failures are forgotten only after the second step, so that a known password gives no more tries for codes.
    if (await needsCode(installation, account.id))
      return {
        code_needed: true,
        challenge: await openChallenge(installation, { purpose: 'code', accountId: account.id }),
      }
    await endAttempt(installation, attempt)
    await session.begin(account.id, 'password')
    return { code_needed: false }
  },
})

/** Signs a person in who gave the right password, by a code of their authenticator app or a recovery code. */
const signInWithCode = defineOpenOperation({
  summary: 'Give the code after the password',
  input: Strict({ challenge: Type.String({ minLength: 1, maxLength: 100 }), code: Code }),
  audit: ['operator.signed_in', 'operator.sign_in_locked', 'operator.recovery_code_used'],
  async handle(context) {
    const { input, installation, session } = context
    const challenge = { purpose: 'code', token: input.challenge } as const
    const accountId = await accountOfChallenge(installation, challenge)
    const account = accountId === undefined ? undefined : await findAccount(installation.storage.control, accountId)
    if (!account) throw tooLate()
    const attempt = attemptFrom(context, account.email)
    await beginAttempt(installation, attempt, account.id)
    await checkCode(installation, { accountId: account.id, code: input.code })
    if (!(await closeChallenge(installation, { ...challenge, accountId: account.id }))) throw tooLate()
    await endAttempt(installation, attempt)
    await session.begin(account.id, 'password_and_code')
    return { signed_in: true as const }
  },
})

function tooLate(): Problem {
  return notSignedIn('challenge_ended', 'This took longer than ten minutes.')
}

/** What the browser needs to sign in with a passkey. */
const beginSignInWithPasskey = defineOpenOperation({
  summary: 'Begin to sign in with a passkey',
  input: Strict({}),
  audit: [],
  async handle({ installation, origin }) {
    return { options: await beginPasskeySignIn(installation, origin) }
  },
})

/** Signs a person in by a passkey, which needs no code: it proves the device and its owner. */
const signInWithPasskey = defineOpenOperation({
  summary: 'Sign in with a passkey',
  input: Strict({ response: PasskeyAnswer }),
  audit: ['operator.signed_in'],
  async handle({ input, installation, origin, session }) {
    const { accountId } = await checkPasskey(installation, { response: input.response as never, origin })
    await session.begin(accountId, 'passkey')
    return { signed_in: true as const }
  },
})

/** Ends the session of the caller. */
const signOut = defineAccountOperation({
  summary: 'Sign out',
  input: Strict({}),
  audit: ['operator.session_ended'],
  async handle({ session }) {
    await session.end()
    return { signed_out: true }
  },
})

/** The operations `sign-in.<verb>`. */
export const signIn = {
  'show-options': showSignInOptions,
  'give-password': signInWithPassword,
  'give-code': signInWithCode,
  'begin-passkey': beginSignInWithPasskey,
  'give-passkey': signInWithPasskey,
  end: signOut,
}
