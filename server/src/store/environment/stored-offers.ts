import type { OpenOffer } from '../../core/facts/open-offers.ts'
import { arrayIn } from '../../core/stored-json.ts'

/** An offer as a row lists it: named members and a written date would take twice the room. */
type StoredOffer = [
  decisionId: string,
  amount: number,
  currency: string,
  /** Milliseconds since 1970. */
  expiresMs: number,
  reference?: string,
]

/** The offers of an entity as the text of its row. */
export function storeOffers(offers: readonly OpenOffer[]): string {
  const stored = offers.map(({ decisionId, amount, currency, expiresAt, reference }): StoredOffer => {
    const offer = [decisionId, amount, currency, Date.parse(expiresAt)] as const
    return reference === undefined ? [...offer] : [...offer, reference]
  })
  return JSON.stringify(stored)
}

/** The offers that the text of a row lists; undefined if the row was altered so that it cannot be read. */
export function storedOffers(text: string): OpenOffer[] | undefined {
  const stored = arrayIn(text)
  if (!stored?.every(isOffer)) return undefined
  return stored.map(([decisionId, amount, currency, expiresMs, reference]) => ({
    decisionId,
    amount,
    currency,
    expiresAt: new Date(expiresMs).toISOString(),
    ...(reference !== undefined && { reference }),
  }))
}

/** The farthest instant that a `Date` can be. */
const LAST_MS = 8.64e15

function isOffer(value: unknown): value is StoredOffer {
  if (!Array.isArray(value) || value.length < 4 || value.length > 5) return false
  const [decisionId, amount, currency, expiresMs, reference = ''] = value
  const isText = [decisionId, currency, reference].every((text) => typeof text === 'string')
  return isText && Number.isFinite(amount) && Number.isInteger(expiresMs) && Math.abs(expiresMs) <= LAST_MS
}
