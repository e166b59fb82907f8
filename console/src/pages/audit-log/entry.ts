import type { OutputOf } from '../../api/operation-types.ts'

/** An entry of the log. */
export type Entry = OutputOf<'audit-log.list'>['entries'][number]
