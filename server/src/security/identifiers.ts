import { createHmac, type KeyObject } from 'node:crypto'

import type { IdentifierType } from '../core/vocabularies.ts'

const SHOWN_CHARACTERS_MAX = 4

/** Normalizes the spelling of an identifier, so that `AB 12-34` and `ab1234` compare as equal. */
export function normalizeIdentifier(type: IdentifierType, value: string): string {
  const text = value.normalize('NFKC').trim().toLowerCase()
  switch (type) {
    case 'email':
    case 'device':
      return text
    case 'phone':
      return text.replace(/[^0-9+]/g, '').replace(/^00/, '+')
    case 'address':
      return text.replace(/[\s,.;]+/g, ' ').trim()
    default:
      return text.replace(/[^\p{L}\p{N}]/gu, '')
  }
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
    issuer?.trim().toLowerCase() ?? null,
    normalizeIdentifier(type, value),
  ])
  return createHmac('sha256', key).update(content).digest('hex')
}

/** Masks an identifier for display: shows its last characters, at most four and at most a third of them. */
export function maskIdentifier(value: string): string {
  const characters = [...value.trim()]
  const shown = Math.min(SHOWN_CHARACTERS_MAX, Math.floor(characters.length / 3))
  return `****${shown > 0 ? characters.slice(-shown).join('') : ''}`
}
