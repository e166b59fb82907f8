/** The options that several commands share (--org, --environment, --as, --code, --reason), and the functions that read them. */
import { findOperator } from '../admin/manage-operators.ts'
import { findOrganization } from '../admin/manage-organizations.ts'
import type { PolicyAct, SolePolicyAct } from '../admin/manage-policies.ts'
import type { OperatorAct, SoleAct } from '../admin/operator-act.ts'
import { checkCode } from '../admin/operator-codes.ts'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import type { Installation } from '../installation/installation.ts'
import { listOperators, type Operator } from '../store/control/operators.ts'
import { type CommandInput, isProblem, type Problem } from './command.ts'
import { osUser } from './os-user.ts'

export const organizationOption = {
  type: 'string',
  description: 'id or name of the organization; needed only if there are several',
} as const

export const environmentOption = { type: 'string', description: 'sandbox (default) or production' } as const

export const targetOptions = { org: organizationOption, environment: environmentOption } as const
export const TARGET_USAGE = '[--org <org>] [--environment sandbox|production]'

export const operatorOptions = {
  org: organizationOption,
  as: { type: 'string', description: 'email of the operator who runs this command; needs --code' },
  code: { type: 'string', description: 'one-time code from the authenticator app of that operator' },
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

/** Reads --org, --as, --code and --reason of a step that two people have to take: each proves with a code who acts. */
export async function readOperatorAct(installation: Installation, input: CommandInput): Promise<OperatorAct | Problem> {
  if (input.options.as === undefined)
    return { problem: 'add --as <email> to name the operator who runs this: run operators list to see the operators' }
  const act = await readSoleAct(installation, input)
  return isProblem(act) ? act : (act as OperatorAct)
}

/** Reads --reason, --org, and --as with --code if it is given; without it, the user of the operating system acts. */
export async function readSoleAct(installation: Installation, input: CommandInput): Promise<SoleAct | Problem> {
  const { options } = input
  if (options.reason === undefined)
    return { problem: 'add --reason "…" to say why: the reason is recorded in the audit log' }
  const organization = await readOrganization(installation, options)
  if (isProblem(organization)) return organization
  const operator = await readOperator(installation, organization.id, input)
  if (isProblem(operator)) return operator
  const act = { organizationId: organization.id, reason: String(options.reason), via: osUser(input).id }
  return operator ? { ...act, operator } : act
}

/** Reads --as and checks --code; undefined without --as. */
export async function readOperator(
  installation: Installation,
  organizationId: string,
  input: CommandInput,
): Promise<Operator | undefined | Problem> {
  const { as: email, code } = input.options
  if (email === undefined)
    return code === undefined ? undefined : { problem: 'add --as <email> to say whose code it is' }
  if (code === undefined)
    return { problem: 'add --code <code> with a one-time code from the authenticator app of this operator' }
  const operator = await findOperator(installation, organizationId, String(email))
  if (isProblem(operator)) return operator
  return (await checkCode(installation, operator, { code: String(code), by: osUser(input) })) ?? operator
}

/** Reads what `readOperatorAct` reads, and --environment. */
export async function readPolicyAct(installation: Installation, input: CommandInput): Promise<PolicyAct | Problem> {
  const environment = readEnvironment(input.options)
  if (isProblem(environment)) return environment
  const act = await readOperatorAct(installation, input)
  return isProblem(act) ? act : { ...act, environment }
}

/** Reads what `readSoleAct` reads, and --environment. */
export async function readSolePolicyAct(
  installation: Installation,
  input: CommandInput,
): Promise<SolePolicyAct | Problem> {
  const environment = readEnvironment(input.options)
  if (isProblem(environment)) return environment
  const act = await readSoleAct(installation, input)
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

/** Returns a function that names actors for display: operators by their email, other actors by their id. */
export async function actorNames(
  { storage }: Installation,
  organizationId: string,
): Promise<(actorId: string) => string> {
  const operators = await listOperators(storage.control, organizationId)
  const emails = new Map(operators.map(({ id, email }) => [id, email]))
  return (actorId) => emails.get(actorId) ?? actorId
}
