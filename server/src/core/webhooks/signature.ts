import { createHmac, type KeyObject } from 'node:crypto'

/** The signed parts of a request: event id, time of the attempt, and body. */
export interface SignedMessage {
  /** The id of the event, the same on every attempt. */
  id: string
  /** When this attempt was made, in seconds since 1970. */
  timestampS: number
  body: string
}

/** Returns the headers of a signed request as Standard Webhooks 1.0 defines them. During a rotation, both keys sign. */
export function signatureHeaders(
  { id, timestampS, body }: SignedMessage,
  keys: readonly KeyObject[],
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const signed = `${id}.${timestampS}.${body}`
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  return { 'webhook-id': id, 'webhook-timestamp': String(timestampS), 'webhook-signature': signatures.join(' ') }
}
