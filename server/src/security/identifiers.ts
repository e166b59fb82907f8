import { createHmac, type KeyObject } from 'node:crypto'
import { normalizeIssuer } from '../core/facts/identity-state.ts'
import { impossibleBecause, isIban } from '../core/identifier-rules.ts'
import { hasLetterOrDigit, plainSpelling } from '../core/plain-spelling.ts'
import type { IdentifierType } from '../core/vocabularies.ts'

const SHOWN_CHARACTERS_MAX = 4

/** Normalizes the spelling of an identifier, so that `AB 12-34` and `ab1234` compare as equal. */
export function normalizeIdentifier(type: IdentifierType, value: string): string {
  const text = plainSpelling(value)
  switch (type) {
    case 'email':
    case 'device':
      return text
    case 'phone':
      return text.replace(/[^0-9+]/g, '').replace(/^00/, '+')
    case 'address':
      return text.replace(/[\s,.;]+/g, ' ').trim()
    default:
      // Marks are kept: in many scripts they are vowels, and without them two numbers could become one.
      return text.replace(/[^\p{L}\p{N}\p{M}]/gu, '')
  }
}

/**
 * Why a value cannot identify anything, as the end of a sentence; undefined if it can. All values whose normal form is
 * empty would be one identifier, and so link all entities that have one.
 */
export function identifierFault(type: IdentifierType, value: string): string | undefined {
  const normal = normalizeIdentifier(type, value)
  if (hasLetterOrDigit(normal)) return impossibleBecause(type, normal)
  return `${type === 'phone' ? 'has no digit' : 'has no letter and no digit'}, so it identifies nothing`
}

/** The HMAC that stands for an identifier in the database. Without the key, guessed values cannot be tested against it. */
export function hashIdentifier(
  key: KeyObject,
  {
    organizationId,
    type,
    value,
    issuer,
  }: {
    organizationId: string
    type: IdentifierType
    value: string
    issuer?: string | undefined
  },
): string {
  const content = JSON.stringify([
    organizationId,
    type,
    issuer === undefined ? null : normalizeIssuer(issuer),
    normalizeIdentifier(type, value),
  ])
  return createHmac('sha256', key).update(content).digest('hex')
}

// 64 bits tell the accounts of one entity apart, and every transaction of an account has them in its key.
const ACCOUNT_KEY_CHARACTERS = 16

/**
 * The key of an account: an HMAC of the id that the caller gave it. IBANs are compared however they are written; any other id
 * is compared exactly, because punctuation and capitals may be all that tells two of them apart.
 */
export function accountKey(key: KeyObject, { organizationId, id }: { organizationId: string; id: string }): string {
  const normal = normalizeIdentifier('bank_account', id)
  const content = JSON.stringify([organizationId, 'account', isIban(normal) ? normal : id])
  return createHmac('sha256', key).update(content).digest('hex').slice(0, ACCOUNT_KEY_CHARACTERS)
}

/**
 * Masks an identifier for display: shows its last characters, at most four and at most a third of them. They are counted
 * in the normal form, because in `------------1234` a third of the characters is all that is secret.
 *
 * Of an e-mail address it shows the end of the local part, the beginning of the domain and the top-level domain, because
 * nearly all addresses end alike.
 */
export function maskIdentifier(type: IdentifierType, value: string): string {
  const normal = normalizeIdentifier(type, value)
  const at = type === 'email' ? normal.lastIndexOf('@') : -1
  if (at < 0) return `****${shownOf(normal, 'end')}`
  const [local, domain] = [normal.slice(0, at), normal.slice(at + 1)]
  const dot = domain.lastIndexOf('.')
  const [name, topLevel] = dot < 0 ? [domain, ''] : [domain.slice(0, dot), domain.slice(dot)]
  return `****${shownOf(local, 'end')}@${shownOf(name, 'start')}****${topLevel}`
}

function shownOf(text: string, from: 'start' | 'end'): string {
  const characters = [...text]
  const shown = Math.min(SHOWN_CHARACTERS_MAX, Math.floor(characters.length / 3))
  if (from === 'start') return characters.slice(0, shown).join('')
  return shown > 0 ? characters.slice(-shown).join('') : ''
}
