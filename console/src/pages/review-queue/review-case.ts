import type { OutputOf } from '../../api/operation-types.ts'

/** A case as the queue lists it. */
export type ListedCase = OutputOf<'cases.list'>['cases'][number]

/** A case as its drawer shows it. */
export type ShownCase = OutputOf<'cases.show'>

/** A request of a case that waits for a verdict. */
export type WaitingRequest = ShownCase['requests'][number]
