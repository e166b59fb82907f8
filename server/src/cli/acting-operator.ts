import { findOperator } from '../admin/manage-operators.ts'
import { findOrganization } from '../admin/manage-organizations.ts'
import type { PolicyAct } from '../admin/manage-policies.ts'
import type { OperatorAct } from '../admin/operator-act.ts'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import type { Installation } from '../service/installation.ts'
import { listOperators } from '../store/queries/operators.ts'
import { cliActor } from './cli-actor.ts'
import { type CommandInput, isProblem, type Problem } from './command.ts'

export const organizationOption = {
  type: 'string',
  description: 'the organization’s id or name; not needed while there is one',
} as const

export const environmentOption = { type: 'string', description: 'sandbox (the default) or production' } as const

export const actOptions = {
  org: organizationOption,
  as: { type: 'string', description: 'the email of the operator who does this' },
  reason: { type: 'string', description: 'why; it goes on record' },
} as const

/** Where a command on policies works. */
export interface Place {
  organizationId: string
  environment: Environment
}

/** Reads who acts, for whom, and why. */
export async function readAct(
  installation: Installation,
  options: CommandInput['options'],
): Promise<OperatorAct | Problem> {
  if (options.as === undefined) return { problem: 'say who does this with --as <email>: operators list shows them' }
  if (options.reason === undefined) return { problem: 'say why with --reason "…": it goes on record' }
  const organization = await findOrganization(installation, options.org as string | undefined)
  if (isProblem(organization)) return organization
  const operator = await findOperator(installation, organization.id, String(options.as))
  if (isProblem(operator)) return operator
  return { organizationId: organization.id, operator, reason: String(options.reason), via: cliActor().id }
}

/** Reads who acts on which environment's policies. */
export async function readPolicyAct(
  installation: Installation,
  options: CommandInput['options'],
): Promise<PolicyAct | Problem> {
  const environment = readEnvironment(options)
  if (isProblem(environment)) return environment
  const act = await readAct(installation, options)
  return isProblem(act) ? act : { ...act, environment }
}

/** Reads whose policies of which environment are looked at. */
export async function readPlace(
  installation: Installation,
  options: CommandInput['options'],
): Promise<Place | Problem> {
  const environment = readEnvironment(options)
  if (isProblem(environment)) return environment
  const organization = await findOrganization(installation, options.org as string | undefined)
  return isProblem(organization) ? organization : { organizationId: organization.id, environment }
}

/** Names actors as people know them: operators by email, all others by their id. */
export async function actorNames(
  { storage }: Installation,
  organizationId: string,
): Promise<(actorId: string) => string> {
  const operators = await listOperators(storage.control, organizationId)
  const emails = new Map(operators.map(({ id, email }) => [id, email]))
  return (actorId) => emails.get(actorId) ?? actorId
}

function readEnvironment(options: CommandInput['options']): Environment | Problem {
  const wanted = options.environment ?? 'sandbox'
  return (
    ENVIRONMENTS.find((name) => name === wanted) ?? {
      problem: `--environment must be sandbox or production, not ${JSON.stringify(wanted)}`,
    }
  )
}
