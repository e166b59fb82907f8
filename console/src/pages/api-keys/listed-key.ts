import type { OutputOf } from '../../api/operation-types.ts'

/** An API key as the list has it. */
export type ListedKey = OutputOf<'keys.list'>['keys'][number]
