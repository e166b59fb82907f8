import type { TransactionFact } from './transaction-fact.ts'

const WORDS_MAX = 3
const OFFSET_BASIS = 0x811c9dc5
const PRIME = 0x01000193
const KEY_BITS = 24

/**
 * The key of the payer or purpose of a credit, by which recurring income is recognised: its counterparty, or else the
 * first words of its booking text, or else its category. Only a hash is kept, so that the state names no third party.
 */
export function streamKey({ counterparty, description, category }: TransactionFact): number {
  return hashOf(wordsOf(counterparty) || wordsOf(description) || wordsOf(category))
}

/** The first words without digits and punctuation: booking texts often end with a date or a reference. */
function wordsOf(text = ''): string {
  return (text.toLowerCase().match(/\p{L}{2,}/gu) ?? []).slice(0, WORDS_MAX).join(' ')
}

/** FNV-1a, shortened: a state holds at most a few thousand different credits. */
function hashOf(text: string): number {
  let hash = OFFSET_BASIS
  for (let index = 0; index < text.length; index++) {
    hash ^= text.charCodeAt(index)
    hash = Math.imul(hash, PRIME)
  }
  return (hash >>> 0) % 2 ** KEY_BITS
}
