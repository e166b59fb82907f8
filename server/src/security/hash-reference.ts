import { createHmac } from 'node:crypto'
import type { Environment } from '../config.ts'
import type { MasterKey } from './master-key.ts'

/**
 * The HMAC that stands for the reference of a request in audit entries, which cannot be taken back: without the key, guessed
 * references cannot be tested against it.
 */
export function hashReference(
  masterKey: MasterKey,
  { environment, ...named }: { environment: Environment; organizationId: string; reference: string },
): string {
  const content = JSON.stringify([named.organizationId, named.reference])
  return createHmac('sha256', masterKey.deriveLasting(`references ${environment}`))
    .update(content)
    .digest('hex')
}
