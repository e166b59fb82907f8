import type { Static } from 'typebox'
import { ORDINARY_CATEGORIES } from '../../core/facts/cashflow/recognize-category.ts'
import { TRANSACTION_CATEGORIES } from '../../core/facts/cashflow/transaction-categories.ts'
import { AMOUNT_MAX } from '../../core/money.ts'
import {
  Currency,
  Day,
  Id,
  Money,
  NOT_BLANK,
  ObjectName,
  OneOf,
  Open,
  Strict,
  Text,
  Timestamp,
} from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { ACCOUNT_KINDS, BALANCE_KINDS, TRANSACTION_DIRECTIONS } from '../../core/vocabularies.ts'
import { DataSourceRequest, ExternalId } from './fields.ts'

const codes = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')
const CATEGORY_NAMES = codes(Object.keys(TRANSACTION_CATEGORIES))
const ORDINARY_NAMES = codes(ORDINARY_CATEGORIES)

/** The most transactions of one request. */
export const TRANSACTIONS_PER_BATCH_MAX = 1_000

/** The most statement balances of one request. */
const BALANCES_PER_BATCH_MAX = 100

const Account = Strict(
  {
    id: Type.String({
      minLength: 1,
      maxLength: 128,
      pattern: NOT_BLANK,
      description:
        'Your id of the account, such as an IBAN, which may be written with spaces. It is stored as a keyed hash and its last characters, and never returned.',
      examples: ['DE89 3704 0044 0532 0130 00'],
    }),
    kind: Type.Optional(
      OneOf(ACCOUNT_KINDS, {
        description:
          'What the balance is: money of its holders (`current`, `savings`) or a debt, below zero (`card`, `loan`). Without it the account is a current account. What was said last counts for all transactions of the account, from the next decision on.',
      }),
    ),
    holders: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description:
          'How many people the account belongs to, in equal parts; one if nothing was said. What was said last counts.',
      }),
    ),
  },
  {
    title: 'Account',
    description: 'The account of the entity. Without it, everything belongs to one unnamed current account.',
  },
)
export type Account = Static<typeof Account>

/** The fields that every transaction has that is not voided. */
const REQUIRED_UNLESS_VOIDED = ['occurred_at', 'amount', 'currency', 'direction'] as const

export const Transaction = Type.Object(
  {
    external_id: ExternalId(
      'Your own id of this transaction, unique on its account. A transaction whose id was sent before changes nothing, unless it says `corrects` or `voided`.',
    ),
    account: Type.Optional(Account),
    occurred_at: Type.Optional(Timestamp('When it was booked. Required unless it is voided.')),
    amount: Type.Optional(
      Money({ exclusiveMinimum: 0, maximum: AMOUNT_MAX }, 'The amount in major units. Required unless it is voided.'),
    ),
    currency: Type.Optional(Currency),
    direction: Type.Optional(
      OneOf(TRANSACTION_DIRECTIONS, {
        description: '`credit` is money in, `debit` is money out. Required unless it is voided.',
      }),
    ),
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
          entity_id: Type.Optional(
            Id(
              'ent',
              'The entity of the counterparty, if you have one. Then the name is not kept: the entity has its own.',
            ),
          ),
        },
        { description: 'The other side of the transaction.' },
      ),
    ),
    provided_by: Type.Optional(DataSourceRequest),
    corrects: Type.Optional(
      Type.Boolean({
        description:
          'Replaces the recorded transaction with this id by what is sent here, as a whole. A voided one counts again.',
      }),
    ),
    voided: Type.Optional(
      Type.Boolean({
        description:
          'The recorded transaction with this id counts no more. Only `external_id` and `account` are read, and the rest may be left out.',
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'Transaction',
    description: 'One booking on an account of the entity.',
    // Left out of openapi.json, because generators of code do not know conditions; the descriptions say it.
    if: { properties: { voided: { const: true } }, required: ['voided'] },
    else: {
      properties: Object.fromEntries(['external_id', ...REQUIRED_UNLESS_VOIDED].map((name) => [name, {}])),
      required: ['external_id', ...REQUIRED_UNLESS_VOIDED], // the id again, so that it is the first that is missed
    },
  },
)

/** A transaction as it is sent. */
export type SentTransaction = Static<typeof Transaction>

/** A transaction that is to be recorded, and so has all that it takes. */
export type Transaction = SentTransaction & {
  [Name in (typeof REQUIRED_UNLESS_VOIDED)[number]]-?: NonNullable<SentTransaction[Name]>
}

/** Whether a transaction is to be recorded, and is not merely named to be voided. */
export function isToBeRecorded(transaction: SentTransaction): transaction is Transaction {
  return transaction.voided !== true
}

const StatementBalance = Strict(
  {
    account: Type.Optional(Account),
    as_of: Day('The day of the balance.'),
    kind: OneOf(BALANCE_KINDS, {
      description: '`opening` is before the first transaction of the day, `closing` is after the last.',
    }),
    amount: Money({ minimum: -AMOUNT_MAX, maximum: AMOUNT_MAX }, 'The balance in major units.'),
    currency: Currency,
  },
  {
    title: 'StatementBalance',
    description:
      'A balance that a statement gives for a day. Of two balances of one account, day, kind and currency the one sent later counts.',
  },
)
export type StatementBalance = Static<typeof StatementBalance>

export const IngestTransactionsRequest = Strict(
  {
    transactions: Type.Array(Transaction, {
      maxItems: TRANSACTIONS_PER_BATCH_MAX,
      description: 'The transactions, in any order; may be empty if there are balances.',
    }),
    balances: Type.Optional(
      Type.Array(StatementBalance, {
        maxItems: BALANCES_PER_BATCH_MAX,
        description: 'Balances of statements, for transactions that report none themselves.',
      }),
    ),
    provided_by: Type.Optional(DataSourceRequest),
  },
  {
    title: 'IngestTransactionsRequest',
    description: 'A batch of transactions, and the source of those that do not name their own.',
  },
)
export type IngestTransactionsRequest = Static<typeof IngestTransactionsRequest>

export const TransactionBatch = Open(
  {
    id: Id('txb', 'The id of the batch.'),
    object: ObjectName('transaction_batch'),
    entity_id: Id('ent', 'The entity whose transactions these are.'),
    received: Type.Integer({ description: 'The number of transactions that were sent: the sum of the next five.' }),
    accepted: Type.Integer({ description: 'The number of transactions that were new.' }),
    duplicates: Type.Integer({
      description: 'The number of transactions that are recorded as they were sent, and so changed nothing.',
    }),
    conflicts: Type.Integer({
      description:
        'The number of transactions whose id is recorded with other content. They changed nothing; send them with `corrects` to replace what is recorded.',
    }),
    corrected: Type.Integer({ description: 'The number of recorded transactions that were replaced.' }),
    voided: Type.Integer({ description: 'The number of recorded transactions that count no more.' }),
    conflicting_ids: Type.Array(Type.String(), {
      description: 'The `external_id` of the first 100 conflicts.',
      examples: [['t-17']],
    }),
    balances: Type.Integer({ description: 'The number of statement balances that were new or had another amount.' }),
    unrecognized_categories: Type.Integer({
      description: 'The number of different categories in the batch that are not known, and so change nothing.',
    }),
    created_at: Timestamp('When the batch was recorded.'),
  },
  { title: 'TransactionBatch', description: 'What became of a batch of transactions.' },
)
