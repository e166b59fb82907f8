import type { Environment } from '../config.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Installation } from '../installation/installation.ts'
import type { Operator } from '../store/control/operators.ts'
import type { RecordContext } from '../store/write-path/record.ts'
import { type Permission, requirePermission } from './permissions.ts'
import { invalid } from './problem.ts'
import { recordContext } from './record-context.ts'

const REASON_CHARACTERS_MAX = 2_000

/** An operator who proved who they are. */
export interface OperatorActor {
  type: 'operator'
  operator: Operator
  /** The user of the operating system who typed the command. */
  via?: string
}

/** A user of the operating system, who holds no role: enough for what one person may do alone. */
export interface OsUserActor {
  type: 'os_user'
  id: string
}

/** The service itself, such as its first start. */
export interface SystemActor {
  type: 'system'
  id: string
}

/** Who acts. */
export type Actor = OperatorActor | OsUserActor | SystemActor

/** An act on the installation: by whom, from where, and why. */
export interface InstallationAct<By extends Actor = Actor> {
  by: By
  channel: 'console' | 'command_line' | 'service'
  /** The key under which it is carried out once (`console/act-once.ts`). */
  idempotencyKey?: string | undefined
  /** Goes on the audit log. */
  reason?: string | undefined
}

/** An act on an organization. */
export interface OrganizationAct<By extends Actor = Actor> extends InstallationAct<By> {
  organizationId: string
}

/** An act on one environment of an organization. */
export interface EnvironmentAct<By extends Actor = Actor> extends OrganizationAct<By> {
  environment: Environment
}

/** An act that has to say why. */
export type Reasoned<A extends InstallationAct> = A & { reason: string }

/** A function of `admin/`, with the permission that operators need for it. */
export interface Permitted<A extends OrganizationAct, Input extends unknown[], Output> {
  (installation: Installation, act: A, ...input: Input): Promise<Output>
  permission: Permission
}

/**
 * Declares the permission of a function of `admin/`: an operator needs a role that holds it. The user of the operating system
 * and the service have no role; a function that they must not call takes only acts of operators.
 */
export function permitted<A extends OrganizationAct, Input extends [input?: unknown], Output>(
  permission: Permission,
  perform: (installation: Installation, act: A, ...input: Input) => Promise<Output>,
  { reasonCharactersMax = REASON_CHARACTERS_MAX }: { reasonCharactersMax?: number } = {},
): Permitted<A, Input, Output> {
  const checked = async (installation: Installation, act: A, ...input: Input) => {
    if (act.by.type === 'operator') requirePermission(act.by.operator, act.organizationId, permission)
    return perform(installation, withReason(act, reasonCharactersMax), ...input)
  }
  return Object.assign(checked, { permission })
}

/** An act with its reason trimmed; one that is blank or too long is no reason. */
export function withReason<A extends InstallationAct>(act: A, charactersMax = REASON_CHARACTERS_MAX): A {
  if (act.reason === undefined) return act
  const reason = act.reason.trim()
  if (reason.length === 0 || reason.length > charactersMax)
    throw invalid('reason_invalid', `The reason must have 1 to ${charactersMax} characters.`)
  return { ...act, reason }
}

/** The actor of an act, as the audit log names it. */
export function actorOf({ by }: InstallationAct): AdminActor {
  return by.type === 'operator' ? { type: 'operator', id: by.operator.id } : { type: by.type, id: by.id }
}

/** The reason of an act, as a member of its audit entry. */
export function reasonOf<A extends InstallationAct>({
  reason,
}: A): A extends { reason: string } ? { reason: string } : { reason?: string } {
  return (reason === undefined ? {} : { reason }) as ReturnType<typeof reasonOf<A>>
}

/** The user of the operating system who typed a command for an operator, as a member of an audit entry. */
export function viaOf({ by }: InstallationAct): { via?: string } {
  return by.type === 'operator' && by.via !== undefined ? { via: by.via } : {}
}

/** The record context of an act, dated now. */
export function contextOf(installation: Installation, act: OrganizationAct): RecordContext {
  return recordContext(installation, { organizationId: act.organizationId, actor: actorOf(act) })
}
