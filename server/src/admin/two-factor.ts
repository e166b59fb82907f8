import { enrolmentUri, generateCodeSecret, matchingStep } from '../security/one-time-code.ts'
import { generateRecoveryCodes, hashRecoveryCode, isRecoveryCode } from '../security/recovery-code.ts'
import { SecretBox } from '../security/secret-box.ts'
import type { Installation } from '../service/installation.ts'
import {
  type AccountCodes,
  acceptAccountCode,
  confirmAccountCodes,
  countRecoveryCodes,
  deleteAccountCodes,
  findAccountCodes,
  proposeAccountCodes,
  replaceRecoveryCodes,
  takeRecoveryCode,
} from '../store/queries/account-codes.ts'
import { recordForAccount } from './record-for-account.ts'

/** An account, as far as its second factor needs it. */
export interface FactorOwner {
  accountId: string
  email: string
}

/** Whether an account's sign-in asks for a code, and how many recovery codes are left. */
export async function twoFactorStatus(
  { storage }: Installation,
  accountId: string,
): Promise<{ enabled_at: string | null; recovery_codes_left: number }> {
  const codes = await findAccountCodes(storage.control, accountId)
  const left = await countRecoveryCodes(storage.control, accountId)
  return { enabled_at: codes?.confirmed_at ?? null, recovery_codes_left: left }
}

/** Whether signing in with a password asks for a code. */
export async function needsCode({ storage }: Installation, accountId: string): Promise<boolean> {
  return ((await findAccountCodes(storage.control, accountId))?.confirmed_at ?? null) !== null
}

/** Makes a secret for the authenticator app. It takes effect with the first code that `enableTwoFactor` accepts. */
export async function proposeTwoFactor(
  installation: Installation,
  { accountId, email }: FactorOwner,
): Promise<{ secret: string; uri: string } | { problem: string }> {
  const secret = generateCodeSecret()
  const encrypted = codeBox(installation).encrypt(accountId, secret)
  if (!(await proposeAccountCodes(installation.storage.control, { accountId, secret: encrypted })))
    return { problem: 'Two-factor is on already. Turn it off first to use another authenticator app.' }
  return { secret, uri: enrolmentUri(secret, email) }
}

/** Turns two-factor on with a code of the new secret, and returns the recovery codes, which cannot be shown again. */
export async function enableTwoFactor(
  installation: Installation,
  { accountId, code }: { accountId: string; code: string },
): Promise<{ recovery_codes: string[] } | { problem: string }> {
  const { storage, nowMs } = installation
  const codes = await findAccountCodes(storage.control, accountId)
  if (!codes || codes.confirmed_at !== null) return { problem: 'There is no new authenticator app to confirm.' }
  if (!(await acceptsAppCode(installation, { accountId, code, codes }))) return WRONG_CODE
  const recoveryCodes = generateRecoveryCodes()
  const isEnabled = await confirmAccountCodes(storage.control, {
    accountId,
    codeHashes: hashesOf(installation, accountId, recoveryCodes),
    now: new Date(nowMs()).toISOString(),
  })
  if (!isEnabled) return WRONG_CODE
  await recordForAccount(installation, accountId, {
    type: 'operator.two_factor_enabled',
    data: { recovery_codes: recoveryCodes.length },
  })
  return { recovery_codes: recoveryCodes }
}

/** Turns two-factor off, with a code of the app or a recovery code. */
export async function disableTwoFactor(
  installation: Installation,
  { accountId, code }: { accountId: string; code: string },
): Promise<{ problem: string } | undefined> {
  const refused = await checkCode(installation, { accountId, code })
  if (refused) return refused
  await deleteAccountCodes(installation.storage.control, accountId)
  await recordForAccount(installation, accountId, { type: 'operator.two_factor_disabled', data: {} })
  return undefined
}

/** Makes other recovery codes; the earlier ones no longer work. */
export async function renewRecoveryCodes(
  installation: Installation,
  { accountId, code }: { accountId: string; code: string },
): Promise<{ recovery_codes: string[] } | { problem: string }> {
  const refused = await checkCode(installation, { accountId, code })
  if (refused) return refused
  const recoveryCodes = generateRecoveryCodes()
  const codeHashes = hashesOf(installation, accountId, recoveryCodes)
  await replaceRecoveryCodes(installation.storage.control, { accountId, codeHashes })
  await recordForAccount(installation, accountId, {
    type: 'operator.recovery_codes_replaced',
    data: { recovery_codes: recoveryCodes.length },
  })
  return { recovery_codes: recoveryCodes }
}

/** Checks a code of the authenticator app or a recovery code; each works once. The caller counts the attempt. */
export async function checkCode(
  installation: Installation,
  { accountId, code }: { accountId: string; code: string },
): Promise<{ problem: string } | undefined> {
  const { control } = installation.storage
  const codes = await findAccountCodes(control, accountId)
  if (!codes || codes.confirmed_at === null) return { problem: 'Two-factor is off.' }
  if (!isRecoveryCode(code))
    return (await acceptsAppCode(installation, { accountId, code, codes })) ? undefined : WRONG_CODE
  const codeHash = hashRecoveryCode(recoveryKey(installation), accountId, code)
  const left = await takeRecoveryCode(control, { accountId, codeHash })
  if (left === undefined) return WRONG_CODE
  await recordForAccount(installation, accountId, {
    type: 'operator.recovery_code_used',
    data: { recovery_codes_left: left },
  })
  return undefined
}

const WRONG_CODE = {
  problem: 'This code is not right. Each code works once and for about a minute, so wait for the next one.',
}

async function acceptsAppCode(
  installation: Installation,
  { accountId, code, codes }: { accountId: string; code: string; codes: AccountCodes },
): Promise<boolean> {
  const secret = codeBox(installation).decrypt(accountId, codes.secret)
  const digits = code.replace(/\s/g, '')
  const step = matchingStep(secret, digits, { nowMs: installation.nowMs(), afterStep: codes.last_step })
  if (step === undefined) return false
  return acceptAccountCode(installation.storage.control, { accountId, secret: codes.secret, step })
}

function hashesOf(installation: Installation, accountId: string, codes: readonly string[]): string[] {
  const key = recoveryKey(installation)
  return codes.map((code) => hashRecoveryCode(key, accountId, code))
}

function codeBox({ masterKey }: Installation): SecretBox {
  return new SecretBox(masterKey.derive('account codes'))
}

function recoveryKey({ masterKey }: Installation) {
  return masterKey.deriveHmacKey('recovery codes')
}
