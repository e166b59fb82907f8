import { randomBytes } from 'node:crypto'

/** Identifies this process among all that share a database, in leases and in its own usage counters. */
export const nodeId = `node_${randomBytes(8).toString('hex')}`
