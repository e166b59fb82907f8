import type { OutputOf } from '../../api/operation-types.ts'

/** The figures of a period. */
export type Overview = OutputOf<'overview.read'>
