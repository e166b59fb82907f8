import type { OutputOf } from '../api/operation-types.ts'

/** An entry of the audit log. */
export type AuditEntry = OutputOf<'audit-log.list'>['entries'][number]

/** Who did it, in words: the name of an operator or an API key, the user of the operating system, or the service. */
export function actorName({ type, id, name }: AuditEntry['actor']): string {
  if (type === 'operator') return name ?? `Operator ${id}`
  if (type === 'api_key') return `Key ${name ?? id}`
  if (type === 'os_user') return `${id} at the command line`
  return `Service (${id})`
}
