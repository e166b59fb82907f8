import { hash } from 'node:crypto'
import { type Problem, throttled } from '../admin/problem.ts'
import type { Installation } from '../installation/installation.ts'
import {
  type CountedAttempt,
  countAttempt,
  discountAttempt,
  forgetFailures,
  lockedUntil,
  type ThrottleLimit,
} from '../store/control/sign-in-failures.ts'
import { recordForAccount } from './record-for-account.ts'

/** Five wrong passwords or codes lock an e-mail for a minute; each further one doubles it. So a day has about 100 tries. */
const ACCOUNT_LIMIT: ThrottleLimit = { failuresMax: 5, lockSeconds: 60, lockSecondsMax: 900 }
/** An office may share an address, so it takes more failures to lock one. */
const ADDRESS_LIMIT: ThrottleLimit = { failuresMax: 30, lockSeconds: 60, lockSecondsMax: 900 }

/** A counter of failed attempts, and what a success does to it. */
interface Counter {
  subject: string
  limit: ThrottleLimit
  /** `forgets` all failures, or takes `back` the one of this attempt because others share the counter. */
  success: 'forgets' | 'back'
}

/** An attempt to prove who one is: the counters that it counts on, in this order. */
export type Attempt = readonly Counter[]

/** An attempt from a browser that is not known for the e-mail, which must be lower case: strangers share its counters. */
export function strangersAttempt({ email, network }: { email: string; network: string }): Attempt {
  return [
    { subject: `address ${network}`, limit: ADDRESS_LIMIT, success: 'back' },
    // Hashed, because a person may type a password into the wrong field.
    { subject: `email ${hash('sha256', email)}`, limit: ACCOUNT_LIMIT, success: 'forgets' },
  ]
}

/**
 * An attempt from a browser in which the person has signed in before. It counts on its own, so that strangers who guess do
 * not keep the person out, and a thief of the browser's cookie gets as many tries as one stranger.
 */
export function knownDeviceAttempt(deviceId: string): Attempt {
  return [{ subject: `device ${deviceId}`, limit: ACCOUNT_LIMIT, success: 'forgets' }]
}

/** An attempt within an open session, to confirm that its person still sits there. */
export function sessionAttempt(sessionId: string): Attempt {
  return [{ subject: `session ${sessionId}`, limit: ACCOUNT_LIMIT, success: 'forgets' }]
}

/** A callback of single sign-on from a network. */
export function callbackAttempt(network: string): Attempt {
  return [{ subject: `single sign-on ${network}`, limit: ADDRESS_LIMIT, success: 'back' }]
}

/** Counts an attempt, and refuses it while one of its counters is locked. A new lock is recorded for the account. */
export async function beginAttempt(installation: Installation, attempt: Attempt, accountId?: string): Promise<void> {
  const counted = await countOn(installation, attempt)
  await recordLock(installation, accountId, counted)
}

/** Ends an attempt that succeeded: the failures that only this person can have made are forgotten. */
export async function endAttempt({ storage }: Installation, attempt: Attempt): Promise<void> {
  for (const { subject, success } of attempt)
    await (success === 'forgets' ? forgetFailures : discountAttempt)(storage.control, subject)
}

/** Takes back this attempt only, because it was right but does not sign the person in: earlier failures still count. */
export async function takeBackAttempt({ storage }: Installation, attempt: Attempt): Promise<void> {
  for (const { subject } of attempt) await discountAttempt(storage.control, subject)
}

/** Counts an attempt on each of its counters, up to the first that is locked; returns what the last one says. */
export async function countOn({ storage, nowMs }: Installation, attempt: Attempt): Promise<CountedAttempt> {
  const now = new Date(nowMs()).toISOString()
  let last: CountedAttempt = { failures: 0, locked_until: null }
  for (const { subject, limit } of attempt) {
    const counted = await countAttempt(storage.control, { subject, now }, limit)
    if (!counted) throw throttledUntil((await lockedUntil(storage.control, subject)) ?? now, nowMs())
    last = counted
  }
  return last
}

/** Records a lock for the organizations of the account, if the attempt brought one and there is an account. */
export async function recordLock(
  installation: Installation,
  accountId: string | undefined,
  { failures, locked_until }: CountedAttempt,
): Promise<void> {
  if (locked_until === null || accountId === undefined) return
  await recordForAccount(installation, accountId, {
    type: 'operator.sign_in_locked',
    data: { failures, locked_until },
  })
}

function throttledUntil(until: string, nowMs: number): Problem {
  const minutes = Math.max(1, Math.ceil((Date.parse(until) - nowMs) / 60_000))
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  return throttled('throttled', `Too many attempts to sign in. Further ones are refused for ${wait}.`)
}
