import { createHmac, type KeyObject, randomInt } from 'node:crypto'
import { ID_ALPHABET } from '../core/id-format.ts'

const CODES = 10
const CHARACTERS = 10
const HALF = CHARACTERS / 2

/** Generates the recovery codes of an account: 50 random bits each, written in two halves to be typed. */
export function generateRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => {
    const text = Array.from({ length: CHARACTERS }, () => ID_ALPHABET[randomInt(ID_ALPHABET.length)]).join('')
    return `${text.slice(0, HALF)}-${text.slice(HALF)}`
  })
}

/** Hashes a recovery code for storage, with a key that the database does not have: 50 bits alone could be searched. */
export function hashRecoveryCode(key: KeyObject, accountId: string, code: string): string {
  return createHmac('sha256', key)
    .update(`${accountId} ${normalized(code)}`)
    .digest('hex')
}

/** Whether a text has the form of a recovery code; codes of authenticator apps have six digits. */
export function isRecoveryCode(text: string): boolean {
  return normalized(text).length === CHARACTERS
}

function normalized(code: string): string {
  return code.toLowerCase().replace(/[^a-z0-9]/g, '')
}
