import { hash } from 'node:crypto'
import { isPassword } from '../security/password.ts'
import type { Installation } from '../service/installation.ts'
import { type Account, findAccountByEmail } from '../store/queries/accounts.ts'
import {
  type CountedAttempt,
  countAttempt,
  discountAttempt,
  forgetFailures,
  lockedUntil,
  type ThrottleLimit,
} from '../store/queries/sign-in-failures.ts'
import { recordForAccount } from './record-for-account.ts'

/** Five wrong passwords or codes lock an e-mail for a minute; each further one doubles it. So a day has about 100 tries. */
const ACCOUNT_LIMIT: ThrottleLimit = { failuresMax: 5, lockSeconds: 60, lockSecondsMax: 900 }
/** An office may share an address, so it takes more failures to lock one. */
const ADDRESS_LIMIT: ThrottleLimit = { failuresMax: 30, lockSeconds: 60, lockSecondsMax: 900 }

/** Why a sign-in was refused; `until` is set while attempts are refused unchecked. */
export interface SignInRefusal {
  problem: string
  until?: string
}

/** The two counters that an attempt to sign in counts on. */
export interface Attempt {
  /** In lower case. */
  email: string
  /** The network of the client. */
  network: string
}

/** Counts an attempt to sign in; a refusal while its e-mail or its address is locked. */
export async function beginAttempt(installation: Installation, attempt: Attempt): Promise<SignInRefusal | undefined> {
  const counted = await count(installation, attempt)
  if ('problem' in counted) return counted
  const account = await findAccountByEmail(installation.storage.control, attempt.email)
  await recordLock(installation, account, counted)
  return undefined
}

async function count(installation: Installation, { email, network }: Attempt): Promise<CountedAttempt | SignInRefusal> {
  const { storage, nowMs } = installation
  const now = new Date(nowMs()).toISOString()
  const byAddress = await countAttempt(storage.control, { subject: addressSubject(network), now }, ADDRESS_LIMIT)
  if (!byAddress) return locked(installation, addressSubject(network))
  const byEmail = await countAttempt(storage.control, { subject: emailSubject(email), now }, ACCOUNT_LIMIT)
  return byEmail ?? locked(installation, emailSubject(email))
}

/** Forgets the failed attempts of an e-mail after a success, and takes back this one of its address. */
export async function endAttempt({ storage }: Installation, { email, network }: Attempt): Promise<void> {
  await forgetFailures(storage.control, emailSubject(email))
  await discountAttempt(storage.control, addressSubject(network))
}

/** Takes back this attempt only, because it was right but does not sign the person in: earlier failures still count. */
export async function takeBackAttempt({ storage }: Installation, { email, network }: Attempt): Promise<void> {
  await discountAttempt(storage.control, emailSubject(email))
  await discountAttempt(storage.control, addressSubject(network))
}

/** Checks an e-mail and a password. The answer and its time are the same for an unknown e-mail and a wrong password. */
export async function checkPassword(
  installation: Installation,
  attempt: Attempt,
  password: string,
): Promise<Account | SignInRefusal> {
  const counted = await count(installation, attempt)
  if ('problem' in counted) return counted
  const account = await findAccountByEmail(installation.storage.control, attempt.email)
  // Beside each other: only a known e-mail has an entry to write, and the time of the answer must not tell.
  const [isRight] = await Promise.all([
    isPassword(password, account?.password_hash, attempt.network),
    recordLock(installation, account, counted),
  ])
  if (isRight && account) return account
  return { problem: 'The e-mail or the password is not right.' }
}

/** Records a lock for the organizations of the account, if the attempt brought one and there is an account. */
async function recordLock(
  installation: Installation,
  account: Account | undefined,
  { failures, locked_until }: CountedAttempt,
): Promise<void> {
  if (locked_until === null || !account) return
  await recordForAccount(installation, account.id, {
    type: 'operator.sign_in_locked',
    data: { failures, locked_until },
  })
}

async function locked({ storage, nowMs }: Installation, subject: string): Promise<SignInRefusal> {
  const until = (await lockedUntil(storage.control, subject)) ?? new Date(nowMs()).toISOString()
  const minutes = Math.max(1, Math.ceil((Date.parse(until) - nowMs()) / 60_000))
  return {
    problem: `Too many attempts to sign in. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
    until,
  }
}

/** Hashed, because a person may type a password into the wrong field. */
function emailSubject(email: string): string {
  return `email ${hash('sha256', email)}`
}

function addressSubject(network: string): string {
  return `address ${network}`
}
