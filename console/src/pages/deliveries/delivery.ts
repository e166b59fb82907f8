import type { OutputOf } from '../../api/operation-types.ts'

/** A delivery as the list has it. */
export type Delivery = OutputOf<'deliveries.list'>['deliveries'][number]

/** A URL without its scheme; the server masks its path, which may hold a token. */
export function addressOf(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\/$/, '')
}
