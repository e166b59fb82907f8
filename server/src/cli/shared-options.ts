/** The options that several commands share (--org, --environment, --as, --reason), and the functions that read them. */
import { userInfo } from 'node:os'
import { findOperator } from '../admin/manage-operators.ts'
import { findOrganization } from '../admin/manage-organizations.ts'
import type { PolicyAct } from '../admin/manage-policies.ts'
import type { OperatorAct } from '../admin/operator-act.ts'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Installation } from '../service/installation.ts'
import { listOperators } from '../store/queries/operators.ts'
import { type CommandInput, isProblem, type Problem } from './command.ts'

export const organizationOption = {
  type: 'string',
  description: 'id or name of the organization; needed only if there are several',
} as const

export const environmentOption = { type: 'string', description: 'sandbox (default) or production' } as const

export const targetOptions = { org: organizationOption, environment: environmentOption } as const
export const TARGET_USAGE = '[--org <org>] [--environment sandbox|production]'

export const operatorOptions = {
  org: organizationOption,
  as: { type: 'string', description: 'email of the operator who runs this command' },
  reason: { type: 'string', description: 'why; recorded in the audit log' },
} as const

/** The organization and the environment that a command works on. */
export interface Target {
  organizationId: string
  environment: Environment
}

/** Reads --org and --environment. */
export async function readTarget(
  installation: Installation,
  options: CommandInput['options'],
): Promise<Target | Problem> {
  const environment = readEnvironment(options)
  if (isProblem(environment)) return environment
  const organization = await readOrganization(installation, options)
  return isProblem(organization) ? organization : { organizationId: organization.id, environment }
}

/** Reads --org, --as and --reason of a command that is recorded under an operator's name. */
export async function readOperatorAct(
  installation: Installation,
  options: CommandInput['options'],
): Promise<OperatorAct | Problem> {
  if (options.as === undefined)
    return { problem: 'add --as <email> to name the operator who runs this: run operators list to see the operators' }
  if (options.reason === undefined)
    return { problem: 'add --reason "…" to say why: the reason is recorded in the audit log' }
  const organization = await readOrganization(installation, options)
  if (isProblem(organization)) return organization
  const operator = await findOperator(installation, organization.id, String(options.as))
  if (isProblem(operator)) return operator
  return { organizationId: organization.id, operator, reason: String(options.reason), via: cliActor().id }
}

/** Reads what `readOperatorAct` reads, and --environment. */
export async function readPolicyAct(
  installation: Installation,
  options: CommandInput['options'],
): Promise<PolicyAct | Problem> {
  const environment = readEnvironment(options)
  if (isProblem(environment)) return environment
  const act = await readOperatorAct(installation, options)
  return isProblem(act) ? act : { ...act, environment }
}

/** Reads --org. */
export function readOrganization(
  installation: Installation,
  options: CommandInput['options'],
): ReturnType<typeof findOrganization> {
  return findOrganization(installation, options.org as string | undefined)
}

/** Reads --environment; the default is the sandbox. */
export function readEnvironment(options: CommandInput['options']): Environment | Problem {
  const wanted = options.environment ?? 'sandbox'
  return (
    ENVIRONMENTS.find((name) => name === wanted) ?? {
      problem: `--environment must be sandbox or production, not ${JSON.stringify(wanted)}`,
    }
  )
}

/**
 * The actor on audit entries of commands that need no operator: the user of the operating system, by number if it has
 * no name. For a command that a running server executes, that is the server's user, the only one who can open its socket.
 */
export function cliActor(): AdminActor {
  return { type: 'system', id: `cli:${userName()}` }
}

/** Returns a function that names actors for display: operators by their email, other actors by their id. */
export async function actorNames(
  { storage }: Installation,
  organizationId: string,
): Promise<(actorId: string) => string> {
  const operators = await listOperators(storage.control, organizationId)
  const emails = new Map(operators.map(({ id, email }) => [id, email]))
  return (actorId) => emails.get(actorId) ?? actorId
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.()}`
  }
}
