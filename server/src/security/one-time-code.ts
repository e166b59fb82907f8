/** Time-based one-time codes (TOTP, RFC 6238) as authenticator apps show them: HMAC-SHA-1, six digits, 30 seconds. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const SECRET_BYTES = 20
const DIGITS = 6
const STEP_MS = 30_000
/** Steps before and after the current one whose codes are accepted, for clocks that differ and people who type slowly. */
const STEPS_TOLERATED = 1
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Generates the secret that one person's authenticator app shares with this installation, in base32. */
export function generateCodeSecret(): string {
  const bits = [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits
    .match(/.{5}/g)!
    .map((five) => BASE32[Number.parseInt(five, 2)])
    .join('')
}

/** The number of the 30-second step that an instant is in. */
export function codeStep(nowMs: number): number {
  return Math.floor(nowMs / STEP_MS)
}

/** The code of a secret in one step. */
export function oneTimeCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', decodeBase32(secret)).update(counter).digest()
  const offset = mac.at(-1)! & 0xf
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** The step of which this is the code, among those accepted now and after the step of the last accepted code. */
export function matchingStep(
  secret: string,
  code: string,
  { nowMs, afterStep }: { nowMs: number; afterStep: number },
): number | undefined {
  const given = Buffer.from(code)
  if (given.length !== DIGITS) return undefined
  const now = codeStep(nowMs)
  for (let step = now - STEPS_TOLERATED; step <= now + STEPS_TOLERATED; step++)
    if (step > afterStep && timingSafeEqual(given, Buffer.from(oneTimeCode(secret, step)))) return step
  return undefined
}

/** The URI that authenticator apps read, usually from a QR code. */
export function enrolmentUri(secret: string, account: string): string {
  return `otpauth://totp/Verdigraph:${encodeURIComponent(account)}?secret=${secret}&issuer=Verdigraph`
}

function decodeBase32(text: string): Buffer {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from(bits.match(/.{8}/g)!.map((eight) => Number.parseInt(eight, 2)))
}
