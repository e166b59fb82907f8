/** What the path of a request for an operation names. */
export type OperationPath =
  | { access: 'open' | 'account'; name: string }
  | { access: 'operator'; name: string; organization: string; environment: string }

/** Why an operation was not carried out. */
export interface Refused {
  refused: { status: number; code: string; message: string }
}

/** The output of an operation or why it was refused, and the new token of the session cookie; null removes the cookie. */
export type OperationAnswer = { newToken?: string | null } & ({ output: unknown } | Refused)
