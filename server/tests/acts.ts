/** Acts for tests that set the scene: by the service itself, or by an operator. */
import type { EnvironmentAct, OperatorActor, OrganizationAct, SystemActor } from '../src/admin/act.ts'
import type { Environment } from '../src/config.ts'
import type { Operator } from '../src/store/control/operators.ts'

/** An act of the service on the installation. */
export const SERVICE = { by: { type: 'system', id: 'test' }, channel: 'service' } as const

/** An act of the service on the sandbox of an organization, or on its production. */
export function byService(organizationId: string, environment: Environment = 'sandbox'): EnvironmentAct<SystemActor> {
  return { organizationId, environment, ...SERVICE }
}

/** An act of an operator at the console, with a reason. */
export function byOperator(
  operator: Operator,
  { environment = 'sandbox', reason = 'A test.' }: { environment?: Environment; reason?: string } = {},
): EnvironmentAct<OperatorActor> & { reason: string } {
  return {
    organizationId: operator.org_id,
    environment,
    by: { type: 'operator', operator },
    channel: 'console',
    reason,
  }
}

/** An act of the user of the operating system on an organization, with a reason. */
export function byOsUser(organizationId: string, reason = 'A test.'): OrganizationAct & { reason: string } {
  return { organizationId, by: { type: 'os_user', id: 'tester (uid 1000)' }, channel: 'command_line', reason }
}
