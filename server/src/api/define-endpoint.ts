import type { Static, TSchema } from 'typebox'
import type { Environment, RateLimit } from '../config.ts'
import type { RefreshBeforeReply } from '../consequences/exposure-refresher.ts'
import type { IdentifierType } from '../core/vocabularies.ts'
import type { NewId } from '../ids/new-id.ts'
import type { Scope } from '../security/scopes.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { Change } from '../store/write-path/change.ts'
import type { ActivePolicies } from '../underwriting/active-policies.ts'
import type { ErrorCode, Failure } from './api-error.ts'

/** The organization that a request acts for, and the API key it carries. */
export interface Caller {
  organizationId: string
  keyId: string
}

/** Everything that a handler can see: its validated request, and the tools of its environment. */
export interface RequestContext<P = unknown, Q = unknown, B = unknown> {
  params: P
  query: Q
  body: B
  caller: Caller
  requestId: string
  /** When the request arrived, ISO 8601. */
  now: string
  /** The time of this call, for records that must not be dated before the data they are based on. */
  readClock: EnvironmentTools['readClock']
  newId: NewId
  environment: Environment
  store: EnvironmentStore
  hashIdentifier: EnvironmentTools['hashIdentifier']
  hashReference: EnvironmentTools['hashReference']
  accountKey: EnvironmentTools['accountKey']
  rateLimit: RateLimit
  policies: ActivePolicies
  isLive: EnvironmentTools['isLive']
  requestSeal: EnvironmentTools['requestSeal']
}

/** What the endpoints of an environment work with. */
export interface EnvironmentTools {
  environment: Environment
  store: EnvironmentStore
  policies: ActivePolicies
  newId: NewId
  rateLimit: RateLimit
  /** The current time, ISO 8601. */
  readClock(): string
  /** Whether an organization may decide here: always in the sandbox, in production once its live gate is open. */
  isLive(organizationId: string): Promise<boolean>
  /** Refreshes the exposures nearest to a committed change. */
  refreshBeforeReply(organizationId: string, refresh: RefreshBeforeReply): Promise<void>
  /** Asks for a signed head of an organization's audit log soon, because a reader waits for the proof of an entry. */
  requestSeal(organizationId: string): void
  /** The keyed hash of an identifier's value, which is stored in its place. */
  hashIdentifier(identifier: {
    organizationId: string
    type: IdentifierType
    value: string
    issuer?: string | undefined
  }): string
  /** The keyed hash that stands for the reference of a request in audit entries. */
  hashReference(named: { organizationId: string; reference: string }): string
  /** The keyed hash of the id that a caller gave an account, which is stored in its place. */
  accountKey(account: { organizationId: string; id: string }): string
}

type Replies = Record<number, TSchema>

/** What the responder does before it sends the reply. */
interface BeforeReply {
  /** The change to commit. */
  change?: Change
  /** The decision that the body is: retries get it from its documents, for as long as it is stored. */
  decisionId?: string
  /** The exposures to refresh after the commit. */
  refreshBeforeReply?: RefreshBeforeReply
}

/** A reply of a declared status with a body of its schema, and what the responder does before it is sent. */
export type Reply<S extends Replies> = {
  [Status in keyof S]: { status: Status; body: S[Status] extends TSchema ? Static<S[Status]> : never } & BeforeReply
}[keyof S]

/** One endpoint of the public API: its contract and its handler. */
export interface Endpoint<
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  S extends Replies = Replies,
  F extends ErrorCode = ErrorCode,
> {
  operationId: string
  summary: string
  description?: string
  tag: string
  method: 'GET' | 'POST'
  path: string
  scope: Scope
  idempotency?: 'required'
  /** The subjects a request locks on its node: requests with a common subject run one at a time instead of racing. */
  serializedBy?(request: { params: Static<P>; body: Static<B> }): string[]
  params?: P
  query?: Q
  body?: B
  succeeds: S
  fails: readonly F[]
  handle(context: RequestContext<Static<P>, Static<Q>, Static<B>>): Promise<Reply<S> | Failure<F>>
}

/** The reply of any endpoint, for code that treats all endpoints alike. */
export interface AnyReply extends BeforeReply {
  status: number
  body: unknown
}

/** Any endpoint, for code that treats all endpoints alike. */
export interface AnyEndpoint extends Omit<Endpoint, 'handle' | 'serializedBy'> {
  // biome-ignore lint/suspicious/noExplicitAny: see handle.
  serializedBy?(request: any): string[]
  // biome-ignore lint/suspicious/noExplicitAny: a handler takes its own endpoint's context, so a list of endpoints has no narrower type.
  handle(context: any): Promise<AnyReply | Failure>
}

/** Declares an endpoint. A wrong reply shape or an undeclared error code does not compile. */
export function defineEndpoint<
  const S extends Replies,
  const F extends ErrorCode = never,
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
>(endpoint: Endpoint<P, Q, B, S, F>): Endpoint<P, Q, B, S, F> {
  return endpoint
}
