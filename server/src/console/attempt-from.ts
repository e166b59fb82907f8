import { networkOf } from '../http/network-of.ts'
import { type Attempt, knownDeviceAttempt, strangersAttempt } from '../sign-in/attempts.ts'
import { findDevice } from '../sign-in/known-devices.ts'
import type { OpenContext } from './define-operation.ts'

/** The attempt of a browser to sign in with an e-mail, which must be lower case: a known browser counts on its own. */
export function attemptFrom(
  { installation, client, deviceCookie }: Pick<OpenContext<unknown>, 'installation' | 'client' | 'deviceCookie'>,
  email: string,
): Attempt {
  const deviceId = findDevice(installation, { cookie: deviceCookie, email })
  return deviceId === undefined
    ? strangersAttempt({ email, network: networkOf(client.address) })
    : knownDeviceAttempt(deviceId)
}
