import type { KeyObject } from 'node:crypto'
import { entriesForAccount, installationEntry } from '../admin/entries.ts'
import { conflict, notSignedIn, type Problem } from '../admin/problem.ts'
import type { Installation } from '../installation/installation.ts'
import { enrolmentUri, generateCodeSecret, matchingStep } from '../security/one-time-code.ts'
import { generateRecoveryCodes, hashRecoveryCode, isRecoveryCode } from '../security/recovery-code.ts'
import { SecretBox } from '../security/secret-box.ts'
import {
  type AccountCodes,
  acceptAccountCode,
  confirmAccountCodes,
  deleteAccountCodes,
  findAccountCodes,
  findProposedCodes,
  listRecoveryCodes,
  proposeAccountCodes,
  replaceRecoveryCodes,
  takeRecoveryCode,
} from '../store/control/account-codes.ts'
import { findAccount, updateAccount } from '../store/control/accounts.ts'
import type { EntryToRecord } from '../store/power/entry-queue.ts'
import { Undone, unlessUndone } from '../store/power/undone.ts'

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
  const account = await findAccount(storage.control, accountId)
  const left = await listRecoveryCodes(storage.control, accountId)
  return { enabled_at: account?.two_factor_since ?? null, recovery_codes_left: left.length }
}

/**
 * Whether signing in with a password asks for a code. The account says so and not the row of its codes, so that deleting
 * the row does not turn the second factor off.
 */
export async function needsCode({ storage }: Installation, accountId: string): Promise<boolean> {
  return ((await findAccount(storage.control, accountId))?.two_factor_since ?? null) !== null
}

/** Makes a secret for the authenticator app. It takes effect with the first code that `enableTwoFactor` accepts. */
export async function proposeTwoFactor(
  installation: Installation,
  { accountId, email }: FactorOwner,
): Promise<{ secret: string; uri: string }> {
  const secret = generateCodeSecret()
  const encrypted = codeBox(installation).encrypt(accountId, secret)
  if (!(await proposeAccountCodes(installation.storage.control, { accountId, secret: encrypted })))
    throw conflict('two_factor_on', 'Two-factor is on already.')
  return { secret, uri: enrolmentUri(secret, email) }
}

/** Turns two-factor on with a code of the new secret, and returns the recovery codes, which cannot be shown again. */
export async function enableTwoFactor(
  installation: Installation,
  { accountId, code }: { accountId: string; code: string },
): Promise<{ recovery_codes: string[] }> {
  const { storage, nowMs } = installation
  const { control } = storage
  const account = await findAccount(control, accountId)
  const codes = await findProposedCodes(control, accountId)
  if (!codes || !account) throw conflict('nothing_proposed', 'There is no new authenticator app to confirm.')
  if (!(await acceptsAppCode(installation, { accountId, code, codes }))) throw wrongCode()
  const recoveryCodes = generateRecoveryCodes()
  const count = { recovery_codes: recoveryCodes.length }
  const now = new Date(nowMs()).toISOString()
  const entry = installationEntry(installation, {
    type: 'account.two_factor_enabled',
    subjectId: accountId,
    data: count,
  })
  const confirmed = control.seal('account_codes', { ...codes, confirmed_at: now }, entry)
  const protectedAccount = control.seal('accounts', { ...account, two_factor_since: now }, entry)
  const entriesOf = await entriesForAccount(installation, accountId)
  const isEnabled = await unlessUndone(
    control.recorded(async (transaction, record) => {
      if (!(await updateAccount(transaction, protectedAccount, { was: account.entry_id }))) return false
      if (!(await confirmAccountCodes(transaction, confirmed))) throw new Undone()
      await replaceRecoveryCodes(transaction, {
        accountId,
        codes: rowsOf(installation, accountId, recoveryCodes, entry),
      })
      record(entry, ...entriesOf('operator.two_factor_enabled', count))
      return true
    }),
  )
  if (!isEnabled) throw wrongCode()
  return { recovery_codes: recoveryCodes }
}

/** Turns two-factor off, with a code of the app or a recovery code. */
export async function disableTwoFactor(
  installation: Installation,
  { accountId, code }: { accountId: string; code: string },
): Promise<void> {
  await checkCode(installation, { accountId, code })
  const { control } = installation.storage
  const account = await findAccount(control, accountId)
  if (!account) throw wrongCode()
  const entry = installationEntry(installation, { type: 'account.two_factor_disabled', subjectId: accountId, data: {} })
  const unprotected = control.seal('accounts', { ...account, two_factor_since: null }, entry)
  const entriesOf = await entriesForAccount(installation, accountId)
  const isDisabled = await control.recorded(async (transaction, record) => {
    if (!(await updateAccount(transaction, unprotected, { was: account.entry_id }))) return false
    await deleteAccountCodes(transaction, accountId)
    record(entry, ...entriesOf('operator.two_factor_disabled', {}))
    return true
  })
  if (!isDisabled) throw wrongCode()
}

/** Makes other recovery codes; the earlier ones no longer work. */
export async function renewRecoveryCodes(
  installation: Installation,
  { accountId, code }: { accountId: string; code: string },
): Promise<{ recovery_codes: string[] }> {
  await checkCode(installation, { accountId, code })
  const recoveryCodes = generateRecoveryCodes()
  const count = { recovery_codes: recoveryCodes.length }
  const entry = installationEntry(installation, {
    type: 'account.recovery_codes_replaced',
    subjectId: accountId,
    data: count,
  })
  const entriesOf = await entriesForAccount(installation, accountId)
  await installation.storage.control.recorded(async (transaction, record) => {
    await replaceRecoveryCodes(transaction, { accountId, codes: rowsOf(installation, accountId, recoveryCodes, entry) })
    record(entry, ...entriesOf('operator.recovery_codes_replaced', count))
  })
  return { recovery_codes: recoveryCodes }
}

/** Checks a code of the authenticator app or a recovery code; each works once. The caller counts the attempt. */
export async function checkCode(
  installation: Installation,
  { accountId, code }: { accountId: string; code: string },
): Promise<void> {
  if (!(await needsCode(installation, accountId))) throw conflict('two_factor_off', 'Two-factor is off.')
  const isAccepted = isRecoveryCode(code)
    ? await acceptsRecoveryCode(installation, { accountId, code })
    : await acceptsStoredAppCode(installation, { accountId, code })
  if (!isAccepted) throw wrongCode()
}

/**
 * The codes that are left are sealed again with the entry of this use, so that a used code that is put back is refused.
 * A code is used up before the act that asked for it, which a retry has yet to carry out if that fails.
 */
async function acceptsRecoveryCode(
  installation: Installation,
  { accountId, code }: { accountId: string; code: string },
): Promise<boolean> {
  const { control } = installation.storage
  const codeHash = hashRecoveryCode(recoveryKey(installation), accountId, code)
  const known = await listRecoveryCodes(control, accountId)
  const used = known.find(({ code_hash }) => code_hash === codeHash)
  if (!used) return false
  const left = known.filter(({ code_hash }) => code_hash !== codeHash)
  const count = { recovery_codes_left: left.length }
  const entry = installationEntry(installation, {
    type: 'account.recovery_code_used',
    subjectId: accountId,
    data: count,
  })
  const entriesOf = await entriesForAccount(installation, accountId)
  const codes = left.map(({ code_hash }) => control.seal('recovery_codes', { account_id: accountId, code_hash }, entry))
  return control.recorded(
    async (transaction, record) => {
      if (!(await takeRecoveryCode(transaction, { accountId, codeHash, was: used.entry_id }))) return false
      await replaceRecoveryCodes(transaction, { accountId, codes })
      record(entry, ...entriesOf('operator.recovery_code_used', count))
      return true
    },
    { isStep: true },
  )
}

function wrongCode(): Problem {
  return notSignedIn('two_factor_code_wrong', 'This code is not right. Each code works once and for about a minute.')
}

async function acceptsStoredAppCode(
  installation: Installation,
  { accountId, code }: { accountId: string; code: string },
): Promise<boolean> {
  const codes = await findAccountCodes(installation.storage.control, accountId)
  return codes !== undefined && acceptsAppCode(installation, { accountId, code, codes })
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

function rowsOf(installation: Installation, accountId: string, codes: readonly string[], entry: EntryToRecord) {
  const key = recoveryKey(installation)
  return codes.map((code) =>
    installation.storage.control.seal(
      'recovery_codes',
      { account_id: accountId, code_hash: hashRecoveryCode(key, accountId, code) },
      entry,
    ),
  )
}

function codeBox({ masterKey }: Installation): SecretBox {
  return new SecretBox([masterKey.derive('account codes')])
}

function recoveryKey({ masterKey }: Installation): KeyObject {
  return masterKey.deriveLasting('recovery codes')
}
