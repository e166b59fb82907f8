import type { Static } from 'typebox'
import { ORDINARY_CATEGORIES } from '../../core/facts/cashflow/recognize-category.ts'
import { TRANSACTION_CATEGORIES } from '../../core/facts/cashflow/transaction-categories.ts'
import { AMOUNT_MAX } from '../../core/money.ts'
import { Currency, Id, Money, ObjectName, OneOf, Open, Strict, Text, Timestamp } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { TRANSACTION_DIRECTIONS } from '../../core/vocabularies.ts'
import { ExternalId } from './fields.ts'

const codes = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')
const CATEGORY_NAMES = codes(Object.keys(TRANSACTION_CATEGORIES))
const ORDINARY_NAMES = codes(ORDINARY_CATEGORIES)

/** The most transactions of one request. */
export const TRANSACTIONS_PER_BATCH_MAX = 1_000

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
        `The kind of transaction. These categories change how it counts: ${CATEGORY_NAMES}. These are known and change nothing: ${ORDINARY_NAMES}. Plaid’s personal-finance categories, primary or detailed, are read as ours. Capitals, spaces and hyphens make no difference. Any other text is allowed, changes nothing and is counted in \`unrecognized_categories\`.`,
      ),
    ),
    description: Type.Optional(Text(500, 'The booking text.')),
    counterparty: Type.Optional(
      Strict(
        {
          name: Type.Optional(Text(255, 'The name of the counterparty.')),
          entity_id: Type.Optional(Id('ent', 'The entity of the counterparty, if you have one.')),
        },
        { description: 'The other side of the transaction.' },
      ),
    ),
  },
  { title: 'Transaction', description: 'One booking on an account of the entity.' },
)
export type Transaction = Static<typeof Transaction>

export const IngestTransactionsRequest = Strict(
  {
    transactions: Type.Array(Transaction, {
      minItems: 1,
      maxItems: TRANSACTIONS_PER_BATCH_MAX,
      description: 'The transactions, in any order.',
    }),
  },
  {
    title: 'IngestTransactionsRequest',
    description: 'A batch of transactions.',
  },
)

export const TransactionBatch = Open(
  {
    id: Id('txb', 'The id of the batch.'),
    object: ObjectName('transaction_batch'),
    entity_id: Id('ent', 'The entity whose transactions these are.'),
    received: Type.Integer({ description: 'The number of transactions that were sent.' }),
    accepted: Type.Integer({ description: 'The number of transactions that were new.' }),
    duplicates: Type.Integer({ description: 'The number of transactions that were sent before.' }),
    unrecognized_categories: Type.Integer({
      description: 'The number of different categories in the batch that are not known, and so change nothing.',
    }),
    created_at: Timestamp('When the batch was recorded.'),
  },
  { title: 'TransactionBatch', description: 'What became of a batch of transactions.' },
)
