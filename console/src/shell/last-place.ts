import { ENVIRONMENTS, type Environment } from '../../../server/src/core/vocabularies.ts'
import type { Place } from '../api/call.ts'

const KEY = 'verdigraph-last-place'

/** Remembers the place that was open last, for `/` and `/account`, which have none in their URL. */
export function rememberPlace({ organizationId, environment }: Place): void {
  localStorage.setItem(KEY, `${organizationId}/${environment}`)
}

/** The place that was open last, if the caller still belongs to it; otherwise the sandbox of their first organization. */
export function lastPlace(organizationIds: readonly string[]): Place | undefined {
  const [organizationId = '', environment = ''] = (localStorage.getItem(KEY) ?? '').split('/')
  if (organizationIds.includes(organizationId) && ENVIRONMENTS.includes(environment as Environment))
    return { organizationId, environment: environment as Environment }
  const [first] = organizationIds
  return first ? { organizationId: first, environment: 'sandbox' } : undefined
}
