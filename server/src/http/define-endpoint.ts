import type { Static, TSchema } from 'typebox'
import type { Environment, RateLimit } from '../config.ts'
import type { RefreshBeforeReply } from '../consequences/refresh-before-reply.ts'
import type { IdentifierType } from '../core/vocabularies.ts'
import type { NewId } from '../ids/new-id.ts'
import type { Scope } from '../security/scopes.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { Change } from '../store/write-path/change.ts'
import type { ActivePolicies } from '../underwriting/active-policies.ts'
import type { ErrorCode, Failure } from './api-error.ts'

/** Who made a request. */
export interface Caller {
  organizationId: string
  keyId: string
}

/** All that an endpoint can see: its request, already validated, and the tools that change with the environment. */
export interface RequestContext<P = unknown, Q = unknown, B = unknown> {
  params: P
  query: Q
  body: B
  caller: Caller
  requestId: string
  /** When the request arrived, ISO 8601. */
  now: string
  /** The time at this moment, for what must not be dated before something it has read. */
  readClock: EnvironmentTools['readClock']
  newId: NewId
  environment: Environment
  store: EnvironmentStore
  hashIdentifier: EnvironmentTools['hashIdentifier']
  rateLimit: RateLimit
  policies: ActivePolicies
  isLive: EnvironmentTools['isLive']
}

/** What an environment lends to its endpoints. */
export interface EnvironmentTools {
  environment: Environment
  store: EnvironmentStore
  policies: ActivePolicies
  newId: NewId
  rateLimit: RateLimit
  readClock(): string
  /** Whether an organization may decide here: always in the sandbox, in production once its live gate is open. */
  isLive(organizationId: string): Promise<boolean>
  /** Refreshes the exposures nearest to a committed change. */
  refreshBeforeReply(organizationId: string, refresh: RefreshBeforeReply): Promise<void>
  /** The keyed hash of an identifier's value; the value itself goes no further. */
  hashIdentifier(identifier: {
    organizationId: string
    type: IdentifierType
    value: string
    issuer?: string | undefined
  }): string
}

type Replies = Record<number, TSchema>

/** What has to happen before the answer goes out. */
interface BeforeAnswer {
  /** What has to be durable. */
  change?: Change
  /** The exposures that have to be refreshed. */
  refreshBeforeReply?: RefreshBeforeReply
}

/** An answer of a declared status, with the body of its schema and what has to be durable before it is sent. */
export type Reply<S extends Replies> = {
  [Status in keyof S]: { status: Status; body: S[Status] extends TSchema ? Static<S[Status]> : never } & BeforeAnswer
}[keyof S]

/** One endpoint of the public contract, top to bottom. */
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
  /** What a request is about: requests about the same thing take turns on a node, so that they need not race each other. */
  takesTurnsOn?(request: { params: Static<P>; body: Static<B> }): string[]
  params?: P
  query?: Q
  body?: B
  succeeds: S
  fails: readonly F[]
  handle(context: RequestContext<Static<P>, Static<Q>, Static<B>>): Promise<Reply<S> | Failure<F>>
}

/** Any endpoint's answer, for the code that treats all endpoints alike. */
export interface AnyReply extends BeforeAnswer {
  status: number
  body: unknown
}

/** Any endpoint, for the same code. */
export interface AnyEndpoint extends Omit<Endpoint, 'handle' | 'takesTurnsOn'> {
  // biome-ignore lint/suspicious/noExplicitAny: see handle.
  takesTurnsOn?(request: any): string[]
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
