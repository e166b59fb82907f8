import type { EnvironmentAct } from '../admin/act.ts'
import { requirePermission } from '../admin/permissions.ts'
import { invalid, notFound, notSignedIn } from '../admin/problem.ts'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import { UNKNOWN_PARTY } from '../http/admission.ts'
import { inTurns } from '../http/in-turns.ts'
import { compileValidation, type Validate } from '../http/validation.ts'
import type { Installation } from '../installation/installation.ts'
import { rememberDevice } from '../sign-in/known-devices.ts'
import { beginSession, type Client, endSession, findSession } from '../sign-in/sessions.ts'
import { findOperatorOfAccount, type Operator } from '../store/control/operators.ts'
import type { SignedInSession } from '../store/control/sessions.ts'
import { ActOnce } from './act-once.ts'
import type { Operation, SessionControl, SignedIn } from './define-operation.ts'
import type { NewCookies, OperationAnswer, OperationPath, Refused } from './operation-call.ts'
import { operations } from './operations.ts'
import { PERSONAL_FIELDS } from './personal-fields.ts'
import { project } from './projection.ts'
import { refusedFor } from './refused-for.ts'

/** What is known of a request before its body is read. */
export interface OperationHead {
  path: OperationPath
  /** The token of the session cookie. */
  token: string | undefined
}

/** A request for an operation, by a caller who was admitted, from the console's own page. */
export interface OperationRequest {
  input: unknown
  /** The `Idempotency-Key` header, which the page sends with everything that a person does. */
  idempotencyKey?: string | undefined
  requestId: string
  client: Client
  deviceCookie: string | undefined
  /** The `Origin` header, which was checked. */
  origin: string
  /** Aborted when the client has left. */
  signal: AbortSignal
  /** Resolves when it is the turn of the caller's party to use the event loop. */
  turn(): Promise<void>
}

/** What the caller may see of an operation: part of its context. */
interface Scope {
  account?: SignedIn
  operator?: Operator
  organizationId?: string
  environment?: Environment
}

/** A caller who may use an operation. */
export interface Admitted {
  path: OperationPath
  /** Whose turns and slots the request takes (`Admission`). */
  party: string
  operation: Operation
  session: SignedInSession | undefined
  scope: Scope
}

/**
 * Answers requests for operations in two steps: `admit` finds the session and checks the role, which takes no body;
 * `respond` checks the input and calls the operation.
 */
export class OperationResponder {
  readonly #installation: Installation
  readonly #actOnce: ActOnce
  readonly #validations = new Map<string, Validate>()

  constructor(installation: Installation) {
    this.#installation = installation
    this.#actOnce = new ActOnce(installation)
  }

  /** Finds the operation of a request, and whether its caller may use it. */
  async admit({ path, token }: OperationHead): Promise<Admitted | Refused> {
    try {
      const operation = findOperation(path)
      const session = token === undefined ? undefined : await findSession(this.#installation, token)
      const scope = await this.#scopeOf(operation, path, session)
      return { path, party: partyOf(path, session), operation, session, scope }
    } catch (error) {
      return refusedFor(error)
    }
  }

  /** Carries out an operation for a caller who was admitted. */
  async respond(admitted: Admitted, request: OperationRequest): Promise<OperationAnswer> {
    const { path, operation, session } = admitted
    const { input, requestId } = request
    const [violation] = this.#validate(path.name, operation, input)
    if (violation) return refusedFor(invalid('validation_failed', violation.message))

    const act = actOf(admitted.scope, request)
    const handle = (installation: Installation) =>
      this.#handle({ ...admitted, act }, request, { ...installationInTurns(installation, request.turn), requestId })
    // What a person does to their own account is no act on an organization: its key is that of the request alone.
    const { idempotencyKey } = act ?? request
    const isAct = operation.audit.length > 0
    // Without a session there is no account whose key it could be: signing in twice begins two sessions.
    if (idempotencyKey === undefined || !isAct || path.access === 'open' || !session) return handle(this.#installation)
    return this.#actOnce.respond({ key: idempotencyKey, accountId: session.account_id, path, input }, handle)
  }

  async #handle(
    { path, operation, session, scope, act }: Admitted & { act: EnvironmentAct | undefined },
    { input, requestId, client, deviceCookie, origin, signal }: OperationRequest,
    installation: Installation,
  ): Promise<OperationAnswer> {
    const { control, written } = sessionControl(installation, session, { client, deviceCookie })
    const { environment } = scope
    const context = {
      input,
      installation,
      requestId,
      now: new Date(installation.nowMs()).toISOString(),
      client,
      deviceCookie,
      origin,
      signal,
      session: control,
      ...scope,
      ...(environment && {
        store: installation.stores[environment],
        database: installation.storage.environments[environment],
        act,
      }),
    }
    try {
      const output = await operation.handle(context as never)
      const personal = PERSONAL_FIELDS[path.name]
      const shown = personal && scope.operator ? project(output, personal, scope.operator) : output
      return { output: shown, ...written }
    } catch (error) {
      return { ...refusedFor(error), ...written }
    }
  }

  /** What the context of the operation has besides its base, if the caller may use the operation at all. */
  async #scopeOf(operation: Operation, path: OperationPath, session: SignedInSession | undefined): Promise<Scope> {
    if (path.access === 'open') return {}
    if (!session) throw notSignedIn('not_signed_in', 'You are not signed in, or your session has ended.')
    const account: SignedIn = {
      accountId: session.account_id,
      sessionId: session.id,
      signedInAt: session.created_at,
      email: session.email,
      name: session.name,
    }
    if (path.access !== 'operator' || operation.access === 'open' || operation.access === 'account') return { account }
    const { organization: organizationId, environment } = path
    const { storage } = this.#installation
    const operator = isEnvironment(environment)
      ? await findOperatorOfAccount(storage.control, organizationId, account.accountId)
      : undefined
    // The same answer for an organization of others and for one that does not exist.
    if (!operator || !isEnvironment(environment))
      throw notFound('organization_not_found', 'There is no such organization, or you are not one of its operators.')
    requirePermission(operator, organizationId, operation.access)
    return { account, operator, organizationId, environment }
  }

  #validate(name: string, { input: schema }: Operation, input: unknown): ReturnType<Validate> {
    let validate = this.#validations.get(name)
    if (!validate) {
      validate = compileValidation(schema, { pointers: 'body' })
      this.#validations.set(name, validate)
    }
    return validate(input)
  }
}

/** The act of an operator within an organization; its reason is that of the input. */
function actOf(
  { operator, organizationId, environment }: Scope,
  { input, idempotencyKey }: Pick<OperationRequest, 'input' | 'idempotencyKey'>,
): EnvironmentAct | undefined {
  if (!operator || !organizationId || !environment) return undefined
  const { reason } = input as { reason?: string }
  return {
    organizationId,
    environment,
    by: { type: 'operator', operator },
    channel: 'console',
    idempotencyKey,
    ...(reason !== undefined && { reason }),
  }
}

/** A copy of the installation for one caller, who waits for a turn before each step that follows a read or a write. */
function installationInTurns(installation: Installation, turn: () => Promise<void>): Installation {
  const { storage, stores } = installation
  const { sandbox, production } = storage.environments
  return {
    ...installation,
    storage: {
      ...storage,
      control: inTurns(storage.control, turn),
      environments: { sandbox: inTurns(sandbox, turn), production: inTurns(production, turn) },
    },
    stores: { sandbox: inTurns(stores.sandbox, turn), production: inTurns(stores.production, turn) },
  }
}

function sessionControl(
  installation: Installation,
  session: SignedInSession | undefined,
  { client, deviceCookie }: Pick<OperationRequest, 'client' | 'deviceCookie'>,
): { control: SessionControl; written: NewCookies } {
  const written: NewCookies = {}
  const endThis = async () => {
    if (session) await endSession(installation, { accountId: session.account_id, sessionId: session.id })
  }
  const control: SessionControl = {
    // A new token at every sign-in, and the earlier session ends: a planted cookie never becomes a session.
    begin: async (accountId, method) => {
      const token = await beginSession(installation, { accountId, method, client })
      await endThis()
      written.newToken = token
      written.newDevice = await rememberDevice(installation, { cookie: deviceCookie, accountId })
    },
    end: async () => {
      await endThis()
      written.newToken = null
    },
  }
  return { control, written }
}

/** Finds the operation that a path names, if it is of the kind that the path says. */
function findOperation({ access, name }: OperationPath): Operation {
  const operation: Operation | undefined = Object.hasOwn(operations, name)
    ? operations[name as keyof typeof operations]
    : undefined
  const kind = operation?.access === 'open' || operation?.access === 'account' ? operation.access : 'operator'
  if (!operation || kind !== access) throw notFound('not_found', 'There is no such operation.')
  return operation
}

function partyOf(path: OperationPath, session: SignedInSession | undefined): string {
  if (path.access === 'operator') return path.organization
  return (path.access === 'account' && session?.account_id) || UNKNOWN_PARTY
}

function isEnvironment(text: string): text is Environment {
  return (ENVIRONMENTS as readonly string[]).includes(text)
}
