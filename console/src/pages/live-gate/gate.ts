import type { OutputOf } from '../../api/operation-types.ts'

/** The state of the live gate, as the server tells it. */
export type Gate = OutputOf<'live-gate.show'>
