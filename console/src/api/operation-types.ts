import type { Operations } from '../../../server/src/console/operations.ts'

/** The name of an operation of the server. */
export type OperationName = keyof Operations & string

/** What an operation takes. */
export type InputOf<N extends OperationName> = Operations[N] extends {
  handle(context: infer Context): unknown
}
  ? Context extends { input: infer Input }
    ? Input
    : never
  : never

/** What an operation answers; a refusal arrives as `ApiError`. */
export type OutputOf<N extends OperationName> = Operations[N] extends {
  handle(...context: never[]): Promise<infer Output>
}
  ? Output
  : never

type NamesWithAccess<Access> = {
  [N in OperationName]: Operations[N] extends { access: infer A } ? ([A] extends [Access] ? N : never) : never
}[OperationName]

/** An operation that needs no session. */
export type OpenName = NamesWithAccess<'open'>

/** An operation on the caller's own account. */
export type AccountName = NamesWithAccess<'account'>

/** An operation within the organization and the environment that the URL names. */
export type PlaceName = Exclude<OperationName, OpenName | AccountName>

/** An operation within a place whose answer is one page of a longer list. */
export type PagedName = {
  [N in PlaceName]: OutputOf<N> extends { next_cursor: string | null } ? N : never
}[PlaceName]
