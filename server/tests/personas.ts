/**
 * Seven applicants as the bodies of API calls, with dates relative to a given now, and the decision that
 * `sandbox-policy-v1` guarantees for each.
 */
import type {
  ConsentPurpose,
  ConsentStatus,
  DataCategory,
  IdentifierType,
  TransactionDirection,
  Verdict,
  VerificationStatus,
} from '../src/core/vocabularies.ts'

/** The decision that a persona must get. */
export interface PersonaExpectation {
  verdicts: readonly Verdict[]
  /** One of these must be among the reasons. */
  reasonsAnyOf?: readonly string[]
  /** One of these must be among the conditions. */
  conditionsAnyOf?: readonly string[]
  tierStartsWith?: string
  confidenceBelow?: number
  limit?: 'at_least_requested' | 'below_requested' | 'absent'
}

/** One transaction as `POST /v1/entities/{entity_id}/transactions` takes it. */
export interface PersonaTransaction {
  external_id: string
  occurred_at: string
  amount: number
  currency: string
  direction: TransactionDirection
  balance_after: number
  category?: string
}

/** One identity link as `POST /v1/entities/{entity_id}/identity-links` takes it. */
export interface PersonaLink {
  identifier: { type: IdentifierType; value: string }
  verification: { status: VerificationStatus; method?: string; verified_at?: string }
}

/** One consent as `POST /v1/entities/{entity_id}/consents` takes it. */
export interface PersonaConsent {
  purpose: ConsentPurpose
  status: ConsentStatus
  data_categories: DataCategory[]
  granted_at: string
}

/** The body of `POST /v1/underwrite` without the entity's id. */
export interface PersonaUnderwriting {
  product: string
  requested_amount?: number
  currency?: string
}

/** Everything to send for one persona, in this order. */
export interface Persona {
  name: string
  entity: { external_id: string; type: 'person' | 'business'; display_name: string; country: string }
  identityLinks: PersonaLink[]
  consents: PersonaConsent[]
  transactions: PersonaTransaction[]
  featureSnapshots: { source: string; as_of: string; features: Record<string, number | string | boolean | null> }[]
  underwrite: PersonaUnderwriting
  /** Another entity that shares an identifier, and the outcome of a decision about it; recorded before the persona. */
  associate?: {
    entity: Persona['entity']
    identityLinks: PersonaLink[]
    underwrite: PersonaUnderwriting
    outcome: { type: 'default'; occurred_at: string }
  }
  expect: PersonaExpectation
}

const DAY_MS = 86_400_000

/** The seven personas, as of `now` (ISO 8601). */
export function personas(now: string): Persona[] {
  const prime = primePersona(now)
  return [
    prime,
    thinFile(),
    overdrawn(now),
    {
      ...prime,
      name: 'overreach',
      entity: { ...prime.entity, external_id: 'persona-overreach' },
      identityLinks: strongLinks('overreach', now),
      underwrite: { ...prime.underwrite, requested_amount: 400_000 },
      expect: { verdicts: ['approve_with_conditions'], conditionsAnyOf: ['reduced_amount'], limit: 'below_requested' },
    },
    {
      ...prime,
      name: 'no consent',
      entity: { ...prime.entity, external_id: 'persona-no-consent' },
      identityLinks: strongLinks('no-consent', now),
      consents: [],
      expect: { verdicts: ['approve_with_conditions'], conditionsAnyOf: ['consent_missing'] },
    },
    badCompany(prime, now),
    {
      ...prime,
      name: 'unverified',
      entity: { ...prime.entity, external_id: 'persona-unverified' },
      identityLinks: [
        { identifier: { type: 'email', value: 'ada@example.com' }, verification: { status: 'unverified' } },
      ],
      expect: { verdicts: ['manual_review', 'approve_with_conditions'], reasonsAnyOf: ['identity_not_verified'] },
    },
  ]
}

function primePersona(now: string): Persona {
  return {
    name: 'prime',
    entity: { external_id: 'persona-prime', type: 'person', display_name: 'Ada Prime', country: 'DE' },
    identityLinks: strongLinks('prime', now),
    consents: [
      {
        purpose: 'credit_underwriting',
        status: 'granted',
        data_categories: ['identity', 'transactions', 'features', 'graph'],
        granted_at: daysBefore(now, 30),
      },
    ],
    transactions: account(now, { opening: 8000, months: PRIME_MONTHS }),
    featureSnapshots: [
      { source: 'crm', as_of: daysBefore(now, 5), features: { tenure_months: 38, is_employee: false } },
    ],
    underwrite: { product: 'personal_loan', requested_amount: 6000, currency: 'EUR' },
    expect: { verdicts: ['approve'], tierStartsWith: 'A', limit: 'at_least_requested' },
  }
}

function thinFile(): Persona {
  return {
    name: 'thin file',
    entity: { external_id: 'persona-thin-file', type: 'person', display_name: 'Theo Thin', country: 'DE' },
    identityLinks: [],
    consents: [],
    transactions: [],
    featureSnapshots: [],
    underwrite: { product: 'personal_loan', requested_amount: 3000, currency: 'EUR' },
    expect: {
      verdicts: ['manual_review'],
      reasonsAnyOf: ['transactions_missing', 'balances_missing', 'identity_not_verified'],
      confidenceBelow: 0.65,
      limit: 'absent',
    },
  }
}

function overdrawn(now: string): Persona {
  return {
    ...primePersona(now),
    name: 'overdrawn',
    entity: { external_id: 'persona-overdrawn', type: 'person', display_name: 'Otto Overdrawn', country: 'DE' },
    identityLinks: strongLinks('overdrawn', now),
    transactions: account(now, { opening: 900, months: OVERDRAWN_MONTHS }),
    expect: { verdicts: ['decline'], reasonsAnyOf: ['account_overdrawn', 'payments_returned'], limit: 'absent' },
  }
}

function badCompany(prime: Persona, now: string): Persona {
  const shared: PersonaLink = {
    identifier: { type: 'tax_id', value: 'DE-SHARED-4711' },
    verification: { status: 'verified', method: 'registry', verified_at: daysBefore(now, 10) },
  }
  return {
    ...prime,
    name: 'bad company',
    entity: { ...prime.entity, external_id: 'persona-bad-company', display_name: 'Bea Company' },
    identityLinks: [...strongLinks('bad-company', now).filter((link) => link.identifier.type !== 'tax_id'), shared],
    associate: {
      entity: { external_id: 'persona-defaulted', type: 'person', display_name: 'Dan Defaulted', country: 'DE' },
      identityLinks: [shared],
      underwrite: prime.underwrite,
      outcome: { type: 'default', occurred_at: now },
    },
    expect: { verdicts: ['manual_review', 'decline'], reasonsAnyOf: ['linked_to_bad_outcome'], limit: 'absent' },
  }
}

function strongLinks(persona: string, now: string): PersonaLink[] {
  const verification = { status: 'verified', method: 'document', verified_at: daysBefore(now, 20) } as const
  return [
    { identifier: { type: 'government_id', value: `ID-${persona}` }, verification },
    { identifier: { type: 'tax_id', value: `TAX-${persona}` }, verification },
  ]
}

/** One recurring movement: the day of the month, its category and its amount (negative: a debit). */
type Movement = readonly [day: number, category: string, amount: number]

const PRIME_MONTHS: readonly Movement[] = [
  [1, 'salary', 4200],
  [3, 'rent', -1250],
  [8, 'groceries', -210],
  [12, 'utilities', -160],
  [17, 'groceries', -190],
  [24, 'leisure', -240],
]

const OVERDRAWN_MONTHS: readonly Movement[] = [
  [2, 'salary', 1700],
  [4, 'rent', -1150],
  [9, 'groceries', -420],
  [14, 'instalments', -380],
  [15, 'returned_payment', 0.01],
  [21, 'leisure', -260],
  [25, 'gift', 420],
]

/** The same movements in each of thirteen months up to now, with the balance after each movement. */
function account(
  now: string,
  { opening, months }: { opening: number; months: readonly Movement[] },
): PersonaTransaction[] {
  const [year, month] = [Number(now.slice(0, 4)), Number(now.slice(5, 7)) - 1]
  let balanceCents = opening * 100
  const transactions: PersonaTransaction[] = []
  for (let offset = -12; offset <= 0; offset++) {
    for (const [day, category, amount] of months) {
      const occurredAt = new Date(Date.UTC(year, month + offset, day, 9)).toISOString()
      if (occurredAt > now) continue
      balanceCents += Math.round(amount * 100)
      transactions.push({
        external_id: `tx-${occurredAt.slice(0, 10)}-${category}`,
        occurred_at: occurredAt,
        amount: Math.abs(amount),
        currency: 'EUR',
        direction: amount > 0 ? 'credit' : 'debit',
        balance_after: balanceCents / 100,
        category,
      })
    }
  }
  return transactions
}

function daysBefore(now: string, days: number): string {
  return new Date(Date.parse(now) - days * DAY_MS).toISOString()
}
