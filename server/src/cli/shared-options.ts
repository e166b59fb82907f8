/** The options that several commands share (--org, --environment, --as, --code, --reason), and the functions that read them. */
import type {
  EnvironmentAct,
  InstallationAct,
  OperatorActor,
  OrganizationAct,
  OsUserActor,
  Reasoned,
} from '../admin/act.ts'
import { findActingOperator } from '../admin/manage-operators.ts'
import { findOrganization } from '../admin/manage-organizations.ts'
import { checkCode } from '../admin/operator-codes.ts'
import { invalid } from '../admin/problem.ts'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import type { Installation } from '../installation/installation.ts'
import { listOperators } from '../store/control/operators.ts'
import type { CommandInput } from './command.ts'
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

export const environmentOperatorOptions = { ...operatorOptions, environment: environmentOption } as const
export const OPERATOR_USAGE = `--as <email> --code <code> --reason <text> ${TARGET_USAGE}`

/** The organization and the environment that a command works on. */
export interface Target {
  organizationId: string
  environment: Environment
}

/** Reads --org and --environment. */
export async function readTarget(installation: Installation, options: CommandInput['options']): Promise<Target> {
  const environment = readEnvironment(options)
  return { organizationId: (await readOrganization(installation, options)).id, environment }
}

/** Reads --org, --as, --code and --reason of a step that two people have to take: each proves with a code who acts. */
export async function readOperatorAct(
  installation: Installation,
  input: CommandInput,
): Promise<Reasoned<OrganizationAct<OperatorActor>>> {
  if (input.options.as === undefined)
    throw invalid('operator_missing', 'Add --as <email> to name the operator who runs this.')
  return (await readSoleAct(installation, input)) as Reasoned<OrganizationAct<OperatorActor>>
}

/** The same in the environment that --environment names. */
export async function readOperatorActIn(
  installation: Installation,
  input: CommandInput,
): Promise<Reasoned<EnvironmentAct<OperatorActor>>> {
  // The environment first: reading the act uses up a one-time code.
  const environment = readEnvironment(input.options)
  return { environment, ...(await readOperatorAct(installation, input)) }
}

/** Reads --reason, --org, and --as with --code if it is given; without it, the user of the operating system acts. */
export async function readSoleAct(
  installation: Installation,
  input: CommandInput,
): Promise<Reasoned<OrganizationAct<OperatorActor | OsUserActor>>> {
  const { options } = input
  if (options.reason === undefined)
    throw invalid('reason_missing', 'Add --reason "…" to say why: the reason is recorded in the audit log.')
  const { id: organizationId } = await readOrganization(installation, options)
  const reason = String(options.reason)
  return { ...commandAct(input, { organizationId }), by: await readActor(installation, organizationId, input), reason }
}

/** Reads --as and checks --code; without --as, the user of the operating system acts. */
export async function readActor(
  installation: Installation,
  organizationId: string,
  input: CommandInput,
): Promise<OperatorActor | OsUserActor> {
  const { as: email, code } = input.options
  const user = osUser(input)
  if (email === undefined) {
    if (code !== undefined) throw invalid('operator_missing', 'Add --as <email> to say whose code it is.')
    return user
  }
  if (code === undefined)
    throw invalid('code_missing', 'Add --code <code> with a one-time code from the authenticator app of this operator.')
  const operator = await findActingOperator(installation, organizationId, String(email))
  await checkCode(installation, operator, { code: String(code), by: user })
  return { type: 'operator', operator, via: user.id }
}

/** An act of the user of the operating system; its reason is --reason, if it is given. */
export function commandAct<Scope extends object>(
  input: CommandInput,
  scope: Scope,
): Scope & InstallationAct<OsUserActor> {
  const { reason } = input.options
  return {
    ...scope,
    by: osUser(input),
    channel: 'command_line',
    ...(reason !== undefined && { reason: String(reason) }),
  }
}

/** Reads --org. */
export function readOrganization(
  installation: Installation,
  options: CommandInput['options'],
): ReturnType<typeof findOrganization> {
  return findOrganization(installation, options.org as string | undefined)
}

/** Reads --environment; the default is the sandbox. */
export function readEnvironment(options: CommandInput['options']): Environment {
  const wanted = options.environment ?? 'sandbox'
  const environment = ENVIRONMENTS.find((name) => name === wanted)
  if (!environment)
    throw invalid('environment_unknown', `--environment must be sandbox or production, not ${JSON.stringify(wanted)}.`)
  return environment
}

/** Reads --environment of a command that works on both by default. */
export function readEnvironments(options: CommandInput['options']): readonly Environment[] {
  return options.environment === undefined ? ENVIRONMENTS : [readEnvironment(options)]
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
