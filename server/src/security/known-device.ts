import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'

const DEVICE_BYTES = 16
const END_BYTES = 8
const MAC_BYTES = 32

/**
 * Makes the token that a browser keeps after a person signed in there, so that it is known when it returns. The token signs
 * in no person: attempts from a known browser only count apart from those of strangers.
 */
export function signDevice(key: KeyObject, { email, endsAtMs }: { email: string; endsAtMs: number }): string {
  const content = Buffer.alloc(DEVICE_BYTES + END_BYTES)
  randomBytes(DEVICE_BYTES).copy(content)
  content.writeBigUInt64BE(BigInt(endsAtMs), DEVICE_BYTES)
  return Buffer.concat([content, macOf(key, content, email)]).toString('base64url')
}

/** The id of the device, if this installation made the token for this e-mail and it has not ended. */
export function knownDevice(
  key: KeyObject,
  token: string,
  { email, nowMs }: { email: string; nowMs: number },
): string | undefined {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== DEVICE_BYTES + END_BYTES + MAC_BYTES) return undefined
  const content = bytes.subarray(0, -MAC_BYTES)
  if (!timingSafeEqual(macOf(key, content, email), bytes.subarray(-MAC_BYTES))) return undefined
  return Number(content.readBigUInt64BE(DEVICE_BYTES)) > nowMs
    ? content.subarray(0, DEVICE_BYTES).toString('hex')
    : undefined
}

/** The e-mail is under the MAC and not in the token: the cookie does not tell who signed in here. */
function macOf(key: KeyObject, content: Buffer, email: string): Buffer {
  return createHmac('sha256', key).update(content).update(email).digest()
}
