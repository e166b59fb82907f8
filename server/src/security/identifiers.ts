import { createHmac, type KeyObject } from 'node:crypto'
import type { IdentifierType } from '../core/vocabularies.ts'

const TAIL_LENGTH = 4

/** Brings the spellings of one identifier into one form, so that `AB 12-34` and `ab1234` are found to be the same. */
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

/** The keyed hash under which an identifier is stored and compared; without the key nobody can try values against it. */
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

/** What a person may see of an identifier: its last characters, and never more than a third of it. */
export function maskIdentifier(value: string): string {
  const characters = [...value.trim()]
  const shown = Math.min(TAIL_LENGTH, Math.floor(characters.length / 3))
  return `****${shown > 0 ? characters.slice(-shown).join('') : ''}`
}
