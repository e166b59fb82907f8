import { randomBytes } from 'node:crypto'

/** Names this process among all that share a database: in leases, and in the counters that only it writes. */
export const nodeId = `node_${randomBytes(8).toString('hex')}`
