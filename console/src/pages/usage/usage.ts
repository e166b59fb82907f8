import type { OutputOf } from '../../api/operation-types.ts'

/** What was used in a period. */
export type Usage = OutputOf<'usage.read'>

/** An API key as a person knows it. */
export function nameOf({ id, name, last_four }: { id: string; name: string | null; last_four: string | null }): string {
  return name === null ? id : `${name} …${last_four}`
}
