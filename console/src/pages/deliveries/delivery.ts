import type { OutputOf } from '../../api/operation-types.ts'

/** A delivery as the list has it. */
export type Delivery = OutputOf<'webhooks.deliveries'>['deliveries'][number]
