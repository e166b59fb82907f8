import type { Static } from 'typebox'
import { TRANSACTION_CATEGORIES } from '../../core/facts/transaction-categories.ts'
import { AMOUNT_MAX } from '../../core/money.ts'
import { Currency, Id, Money, OneOf, Strict, Text, Timestamp } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { TRANSACTION_DIRECTIONS } from '../../core/vocabularies.ts'
import { ExternalId } from './fields.ts'

const CATEGORY_NAMES = Object.keys(TRANSACTION_CATEGORIES)
  .map((name) => `\`${name}\``)
  .join(', ')

export const Transaction = Strict(
  {
    external_id: ExternalId(
      'Your own id of this transaction. A transaction whose id was sent before is a duplicate and changes nothing.',
    ),
    occurred_at: Timestamp('When it was booked.'),
    amount: Money({ exclusiveMinimum: 0, maximum: AMOUNT_MAX }, 'The amount in major units.'),
    currency: Currency,
    direction: OneOf(TRANSACTION_DIRECTIONS, { description: '`credit` is money in, `debit` is money out.' }),
    balance_after: Type.Optional(
      Money({ minimum: -AMOUNT_MAX, maximum: AMOUNT_MAX }, 'The balance of the account after the transaction.'),
    ),
    category: Type.Optional(
      Text(
        100,
        `The kind of transaction. These categories change how it counts: ${CATEGORY_NAMES}. Any other text is allowed.`,
      ),
    ),
    description: Type.Optional(Text(500, 'The booking text.')),
    counterparty: Type.Optional(
      Strict({
        name: Type.Optional(Text(255, 'The name of the counterparty.')),
        entity_id: Type.Optional(Id('ent', 'The entity of the counterparty, if you have one.')),
      }),
    ),
  },
  { title: 'Transaction' },
)
export type Transaction = Static<typeof Transaction>

export const IngestTransactionsRequest = Strict(
  { transactions: Type.Array(Transaction, { minItems: 1, maxItems: 1000 }) },
  {
    title: 'IngestTransactionsRequest',
    examples: [
      {
        transactions: [
          {
            external_id: 't-1',
            occurred_at: '2026-11-01T08:00:00Z',
            amount: 2400.5,
            currency: 'EUR',
            direction: 'credit',
            balance_after: 5120.75,
            category: 'salary',
          },
        ],
      },
    ],
  },
)

export const TransactionBatch = Strict(
  {
    id: Id('txb', 'The id of the batch.'),
    object: Type.Literal('transaction_batch'),
    entity_id: Id('ent', 'The entity whose transactions these are.'),
    received: Type.Integer({ description: 'The number of transactions that were sent.' }),
    accepted: Type.Integer({ description: 'The number of transactions that were new.' }),
    duplicates: Type.Integer({ description: 'The number of transactions that were sent before.' }),
    created_at: Timestamp('When the batch was recorded.'),
  },
  { title: 'TransactionBatch' },
)
