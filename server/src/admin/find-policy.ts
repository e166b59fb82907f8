import type { Installation } from '../installation/installation.ts'
import type { StoredPolicy } from '../store/environment/policies.ts'
import type { EnvironmentAct } from './act.ts'
import { notFound } from './problem.ts'

/** Finds a policy of an environment by its version. */
export async function findPolicy(
  { stores }: Pick<Installation, 'stores'>,
  { environment, organizationId }: Pick<EnvironmentAct, 'environment' | 'organizationId'>,
  version: string,
): Promise<StoredPolicy> {
  const policy = await stores[environment].policies.byVersion(organizationId, version)
  if (!policy) throw notFound('policy_not_found', `There is no policy ${JSON.stringify(version)} in ${environment}.`)
  return policy
}
