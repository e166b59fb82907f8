import { Type } from '../core/schema/type.ts'

/** A code of an authenticator app or a recovery code, as a person types it. */
export const Code = Type.String({ minLength: 6, maxLength: 20 })

/** The password again, before a change of how one signs in; left out for an account without one. */
export const CurrentPassword = Type.Optional(Type.String({ minLength: 1, maxLength: 1_024 }))

/** What a browser answers for a passkey: checked by `@simplewebauthn/server`, and here only for its outer form. */
export const PasskeyAnswer = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 1_400 }),
    rawId: Type.String({ minLength: 1, maxLength: 1_400 }),
    type: Type.Literal('public-key'),
    response: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  },
  { additionalProperties: true },
)

/** What a one-time link holds behind its `#`. */
export const Token = Type.String({ minLength: 1, maxLength: 100 })
/** The name of a person or an organization. */
export const Name = Type.String({ minLength: 1, maxLength: 255 })
/** Bounded here only so that a request stays small; `passwordFault` says what a password must be. */
export const NewPassword = Type.String({ minLength: 1, maxLength: 1_024 })
