import { isIP } from 'node:net'
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { entriesForAccount, installationEntry } from '../admin/entries.ts'
import { conflict, invalid, notFound, notSignedIn, type Problem } from '../admin/problem.ts'
import type { Installation } from '../installation/installation.ts'
import { hasIdentity } from '../store/control/account-identities.ts'
import { findAccount } from '../store/control/accounts.ts'
import {
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeys,
  notePasskeyUse,
  type Passkey,
} from '../store/control/passkeys.ts'
import {
  closeChallenge,
  isPasskeyChallenge,
  openChallenge,
  openPasskeyChallenge,
  usePasskeyChallenge,
} from './challenges.ts'

const PASSKEYS_MAX = 20
/** COSE numbers of Ed25519, ES256 and RS256: what authenticators have. Asking Node.js for more prints warnings. */
const ALGORITHMS = [-8, -7, -257]

/** The words of WebAuthn; the browser sends them unsigned, so no other text is stored. */
const TRANSPORTS = new Set<string>(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'])

/** Why a page with this origin cannot use passkeys, which browsers bind to a host name; undefined if it can. */
export function passkeyFault(origin: string): string | undefined {
  const { hostname, protocol, port } = new URL(origin)
  if (hostname.startsWith('127.') || hostname === '[::1]')
    return `Passkeys need a host name. Open http://localhost${port && `:${port}`} to use them.`
  if (hostname.startsWith('[') || isIP(hostname) > 0)
    return 'Passkeys need a host name. Open the console under its name to use them.'
  if (protocol !== 'https:' && hostname !== 'localhost') return 'Passkeys need https.'
  return undefined
}

function requirePasskeys(origin: string): void {
  const problem = passkeyFault(origin)
  if (problem !== undefined) throw invalid('passkeys_impossible', problem)
}

/** What the browser needs to make a passkey for an account. */
export async function beginPasskey(
  installation: Installation,
  { accountId, email, name, origin }: { accountId: string; email: string; name: string; origin: string },
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  requirePasskeys(origin)
  const known = await listPasskeys(installation.storage.control, accountId)
  if (known.length >= PASSKEYS_MAX)
    throw conflict('too_many_passkeys', `An account has at most ${PASSKEYS_MAX} passkeys.`)
  return generateRegistrationOptions({
    rpName: 'Verdigraph',
    rpID: new URL(origin).hostname,
    userName: email,
    userDisplayName: name,
    userID: new TextEncoder().encode(accountId),
    challenge: challengeBytes(await openChallenge(installation, { purpose: 'passkey_add', accountId })),
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: known.map((passkey) => ({ id: passkey.credential_id, transports: transportsOf(passkey) })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

/** Adds the passkey that the browser made. */
export async function addPasskey(
  installation: Installation,
  {
    accountId,
    name,
    response,
    origin,
  }: { accountId: string; name: string; response: RegistrationResponseJSON; origin: string },
): Promise<{ id: string }> {
  const verified = await verifyRegistrationResponse({
    response,
    expectedChallenge: (token) => closeChallenge(installation, { purpose: 'passkey_add', token, accountId }),
    expectedOrigin: origin,
    expectedRPID: new URL(origin).hostname,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => ({ verified: false as const }))
  if (!verified.verified) throw invalid('passkey_invalid', 'The browser’s answer is not right or came too late.')
  const { credential } = verified.registrationInfo
  const passkey: Passkey = {
    id: installation.newId('pky'),
    account_id: accountId,
    credential_id: credential.id,
    public_key: Buffer.from(credential.publicKey).toString('base64url'),
    sign_count: credential.counter,
    transports: (credential.transports ?? []).filter((word) => TRANSPORTS.has(word)).join(' '),
    name: name.trim(),
    created_at: new Date(installation.nowMs()).toISOString(),
    last_used_at: null,
  }
  const { control } = installation.storage
  const entry = installationEntry(installation, {
    type: 'account.passkey_added',
    subjectId: passkey.id,
    data: { account_id: accountId },
  })
  const entriesOf = await entriesForAccount(installation, accountId)
  const added = control.seal('passkeys', await control.afterEndings('passkeys', passkey), entry)
  const isAdded = await control.recorded(async (transaction, record) => {
    if (!(await insertPasskey(transaction, added))) return false
    record(entry, ...entriesOf('operator.passkey_added', { passkey_id: passkey.id }))
    return true
  })
  if (!isAdded) throw conflict('passkey_known', 'This passkey is known already.')
  return { id: passkey.id }
}

/** What the browser needs to sign in with a passkey, of any account. */
export async function beginPasskeySignIn(
  installation: Installation,
  origin: string,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  requirePasskeys(origin)
  return generateAuthenticationOptions({
    rpID: new URL(origin).hostname,
    challenge: challengeBytes(openPasskeyChallenge(installation)),
    userVerification: 'required',
  })
}

/** Checks the answer of a passkey; returns the id of its account. It proves two factors: the device, and its owner. */
export async function checkPasskey(
  installation: Installation,
  { response, origin }: { response: AuthenticationResponseJSON; origin: string },
): Promise<{ accountId: string }> {
  const { control } = installation.storage
  const passkey = await findPasskey(control, response.id)
  if (!passkey) throw wrongPasskey()
  let challenge = ''
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge(token) {
      challenge = token
      return isPasskeyChallenge(installation, token)
    },
    expectedOrigin: origin,
    expectedRPID: new URL(origin).hostname,
    requireUserVerification: true,
    credential: {
      id: passkey.credential_id,
      publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
      counter: passkey.sign_count,
      transports: transportsOf(passkey),
    },
  }).catch(() => undefined)
  if (!verified?.verified || !(await usePasskeyChallenge(installation, challenge))) throw wrongPasskey()
  const isNoted = await notePasskeyUse(control, {
    id: passkey.id,
    earlierCount: passkey.sign_count,
    signCount: verified.authenticationInfo.newCounter,
    now: new Date(installation.nowMs()).toISOString(),
  })
  if (!isNoted) throw wrongPasskey()
  return { accountId: passkey.account_id }
}

function wrongPasskey(): Problem {
  return notSignedIn('passkey_wrong', 'This passkey is not known here, or its answer came too late.')
}

/** Removes a passkey of an account that has another way to sign in. */
export async function removePasskey(
  installation: Installation,
  { accountId, id }: { accountId: string; id: string },
): Promise<void> {
  const { control } = installation.storage
  const missing = () => notFound('passkey_not_found', 'This account has no such passkey.')
  const passkeys = await listPasskeys(control, accountId)
  if (!passkeys.some((passkey) => passkey.id === id)) throw missing()
  if (passkeys.length === 1 && !(await hasPasswordOrProvider(installation, accountId)))
    throw conflict('last_passkey', 'This passkey is the only way to sign in to this account.')
  const entriesOf = await entriesForAccount(installation, accountId)
  const data = { account_id: accountId }
  const removed = installationEntry(installation, { type: 'account.passkey_removed', subjectId: id, data })
  const isRemoved = await control.recorded(async (transaction, record) => {
    if (!(await deletePasskey(transaction, { accountId, id }))) return false
    record(removed, ...entriesOf('operator.passkey_removed', { passkey_id: id }))
    return true
  })
  if (!isRemoved) throw missing()
}

/** A connected identity counts only while the console has a provider to sign in through. */
async function hasPasswordOrProvider({ storage, config }: Installation, accountId: string): Promise<boolean> {
  const account = await findAccount(storage.control, accountId)
  if (account?.password_hash) return true
  return config.oidc !== undefined && (await hasIdentity(storage.control, accountId))
}

/** The browser answers with the challenge in base64url, which is the token again. */
function challengeBytes(token: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(token, 'base64url'))
}

function transportsOf({ transports }: Passkey): string[] {
  return transports === '' ? [] : transports.split(' ')
}
