import type { Static, TSchema } from 'typebox'
import type { EnvironmentAct, OperatorActor } from '../admin/act.ts'
import type { Permission } from '../admin/permissions.ts'
import type { Environment } from '../config.ts'
import type { AuditEntryType } from '../core/audit/audit-data.ts'
import type { Installation } from '../installation/installation.ts'
import type { Client, SignInMethod } from '../sign-in/sessions.ts'
import type { Operator } from '../store/control/operators.ts'
import type { Database } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'

/** What every operation can see. */
interface BaseContext<Input> {
  input: Input
  installation: Installation
  requestId: string
  /** When the request arrived, ISO 8601. */
  now: string
  client: Client
  /** What the browser holds of the people who have signed in there. */
  deviceCookie: string | undefined
  /** The origin of the page that sent the request, such as `http://localhost:4000`: one of the console's. */
  origin: string
  /** Aborted when the client leaves before the answer: work that only it waits for ends then. */
  signal: AbortSignal
  session: SessionControl
}

/** How an operation signs its caller in or out: the responder turns it into the session cookie. */
export interface SessionControl {
  /** Starts a session of an account and sends its cookie with the answer. */
  begin(accountId: string, method: SignInMethod): Promise<void>
  /** Ends the session of this request and clears its cookie. */
  end(): Promise<void>
}

/** The account of a session: a person, who may be an operator of several organizations. */
export interface SignedIn {
  accountId: string
  sessionId: string
  /** When the session began, ISO 8601. */
  signedInAt: string
  email: string
  name: string
}

/** The context of an operation that needs no session, such as signing in. */
export type OpenContext<Input> = BaseContext<Input>

/** The context of an operation on the caller's own account. */
export interface AccountContext<Input> extends BaseContext<Input> {
  account: SignedIn
}

/** The context of an operation of an operator within one organization and environment. */
export interface OperatorContext<Input> extends AccountContext<Input> {
  /** What the caller does, for the functions of `admin/`; its reason is that of the input. */
  act: ActOf<Input>
  operator: Operator
  organizationId: string
  environment: Environment
  /** The store and the database of the environment that the page shows. */
  store: EnvironmentStore
  database: Database
}

type ActOf<Input> = EnvironmentAct<OperatorActor> & (Input extends { reason: string } ? { reason: string } : unknown)

interface Described<I extends TSchema> {
  summary: string
  input: I
  /** The audit entries that the operation writes; empty for one that only reads. */
  audit: readonly AuditEntryType[]
}

/** An operation of the console's backend: its contract and its handler, which refuses by throwing a `Problem`. */
export type Operation<I extends TSchema = TSchema, Output = unknown> =
  | (Described<I> & { access: 'open'; handle(context: OpenContext<Static<I>>): Promise<Output> })
  | (Described<I> & { access: 'account'; handle(context: AccountContext<Static<I>>): Promise<Output> })
  | (Described<I> & { access: Permission; handle(context: OperatorContext<Static<I>>): Promise<Output> })

/** Declares an operation that a caller without a session may use. */
export function defineOpenOperation<I extends TSchema, Output>(
  operation: Described<I> & { handle(context: OpenContext<Static<I>>): Promise<Output> },
) {
  return { ...operation, access: 'open' as const }
}

/** Declares an operation on the caller's own account. */
export function defineAccountOperation<I extends TSchema, Output>(
  operation: Described<I> & { handle(context: AccountContext<Static<I>>): Promise<Output> },
) {
  return { ...operation, access: 'account' as const }
}

/** Declares an operation within an organization, for operators whose role holds the permission. */
export function defineOperation<I extends TSchema, Output>(
  operation: Described<I> & {
    access: Permission
    handle(context: OperatorContext<Static<I>>): Promise<Output>
  },
) {
  return operation
}
