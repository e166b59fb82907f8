import type { Installation } from '../installation/installation.ts'
import { knownDevice, signDevice } from '../security/known-device.ts'
import { findAccount } from '../store/control/accounts.ts'

/** How long a browser is known after a person signed in there. */
export const DEVICE_SECONDS = 180 * 24 * 3_600
/** People who share a browser and are known in it. */
const PEOPLE_MAX = 4
const SEPARATOR = '.'

/** The id of the browser, if it is known for an e-mail by what its cookie holds. */
export function findDevice(
  { masterKey, nowMs }: Installation,
  { cookie, email }: { cookie: string | undefined; email: string },
): string | undefined {
  const key = masterKey.deriveHmacKey('known devices')
  for (const token of tokensIn(cookie)) {
    const device = knownDevice(key, token, { email, nowMs: nowMs() })
    if (device) return device
  }
  return undefined
}

/** What the cookie holds after a person signed in: a new token of theirs, before those of other people. */
export async function rememberDevice(
  { storage, masterKey, nowMs }: Installation,
  { cookie, accountId }: { cookie: string | undefined; accountId: string },
): Promise<string> {
  const { email } = (await findAccount(storage.control, accountId))!
  const key = masterKey.deriveHmacKey('known devices')
  const own = signDevice(key, { email, endsAtMs: nowMs() + DEVICE_SECONDS * 1_000 })
  const others = tokensIn(cookie).filter((token) => !knownDevice(key, token, { email, nowMs: nowMs() }))
  return [own, ...others].slice(0, PEOPLE_MAX).join(SEPARATOR)
}

function tokensIn(cookie: string | undefined): string[] {
  return cookie ? cookie.split(SEPARATOR, PEOPLE_MAX) : []
}
