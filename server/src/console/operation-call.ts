/** What the path of a request for an operation names. */
export type OperationPath =
  | { access: 'open' | 'account'; name: string }
  | { access: 'operator'; name: string; organization: string; environment: string }

/** Why an operation was not carried out. */
export interface Refused {
  refused: { status: number; code: string; message: string }
}

/** The cookies that an answer sets: the token of the session, which null removes, and the device that is known now. */
export interface NewCookies {
  newToken?: string | null
  newDevice?: string
}

/** The output of an operation or why it was refused, and the cookies that go with it. */
export type OperationAnswer = NewCookies & ({ output: unknown } | Refused)
