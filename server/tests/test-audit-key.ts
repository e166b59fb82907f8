import { createSecretKey } from 'node:crypto'

/** The key of the MACs of audit entries, for stores that a test opens without an installation. */
export const testAuditKey = createSecretKey(Buffer.alloc(32, 1))

/** The keys of stores that a test opens without an installation. */
export const testKeys = { auditKey: testAuditKey, rowKey: createSecretKey(Buffer.alloc(32, 2)) }
