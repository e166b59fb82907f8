import type { Database, Row } from '../database/database.ts'
import { columnsOf, type NewRow } from '../schema/tables.ts'

/** A transaction as it is stored. */
export type TransactionRow = NewRow<'transactions'>

/** A source of data of an entity, without what a notice says of it. */
export type KnownSource = Pick<NewRow<'data_sources'>, 'provides' | 'id' | 'kind'>

/** A statement balance as it is stored. */
export type StatementBalanceRow = NewRow<'statement_balances'>

/** What names a transaction of an entity. */
export type TransactionName = Pick<TransactionRow, 'account' | 'external_id'>

/** What names a balance of a statement of an entity. */
export type BalanceName = Pick<StatementBalanceRow, 'account' | 'currency' | 'as_of' | 'kind'>

const COLUMNS = columnsOf('transactions')
  .filter((column) => column !== 'org_id')
  .map((column) => `transactions.${column}`)
  .join(', ')

const BALANCE_COLUMNS = columnsOf('statement_balances')
  .filter((column) => column !== 'org_id')
  .map((column) => (column === 'as_of' ? 'balance.as_of::text AS as_of' : `balance.${column}`))
  .join(', ')

/** The expression of the index `transactions_by_day`. */
const DAY_OF_ENTITY = `entity_day(transactions.entity_id, (transactions.occurred_at AT TIME ZONE 'UTC')::date - DATE '1970-01-01')`

/** Reads of the transactions and statement balances of an entity. */
export function transactionQueries(database: Database) {
  return {
    /** Those of the named transactions that are recorded, voided ones too. */
    async named(
      organizationId: string,
      entityId: string,
      names: readonly TransactionName[],
    ): Promise<TransactionRow[]> {
      return database.query<TransactionRow & Row>(
        // One index look-up for each name: joined, the planner may read all transactions of the entity.
        `SELECT known.* FROM unnest($3::text[], $4::text[]) AS sent (account, external_id) CROSS JOIN LATERAL (
           SELECT ${COLUMNS} FROM transactions WHERE org_id = $1 AND entity_id = $2
             AND account = sent.account AND external_id = sent.external_id LIMIT 1) AS known`,
        [organizationId, entityId, names.map(({ account }) => account), names.map(({ external_id }) => external_id)],
      )
    },

    /** The transactions of these days, counted since 1970, without voided ones; at most so many of them. */
    async ofDays(
      organizationId: string,
      entityId: string,
      { days, max }: { days: readonly number[]; max: number },
    ): Promise<TransactionRow[]> {
      return database.query<TransactionRow & Row>(
        `SELECT ${COLUMNS} FROM unnest($3::integer[]) AS wanted (day)
         JOIN transactions ON ${DAY_OF_ENTITY} = entity_day($2, wanted.day)
         WHERE transactions.org_id = $1 AND transactions.entity_id = $2 AND transactions.void_batch_id IS NULL LIMIT $4`,
        [organizationId, entityId, days, max],
      )
    },

    /** The newest day with a statement balance or a transaction that counts and is not among these; null if there is none. */
    async newestDay(
      organizationId: string,
      entityId: string,
      except: readonly TransactionName[],
    ): Promise<number | null> {
      const [row] = await database.query<{ newest: number | null }>(
        `SELECT greatest(
           (SELECT (occurred_at AT TIME ZONE 'UTC')::date - DATE '1970-01-01' FROM transactions
            WHERE ${DAY_OF_ENTITY} BETWEEN entity_day($2, -30000) AND entity_day($2, 101071)
              AND org_id = $1 AND entity_id = $2 AND void_batch_id IS NULL
              AND NOT EXISTS (SELECT 1 FROM unnest($3::text[], $4::text[]) AS changed (account, external_id)
                WHERE changed.account = transactions.account AND changed.external_id = transactions.external_id)
            ORDER BY ${DAY_OF_ENTITY} DESC LIMIT 1),
           (SELECT max(as_of) - DATE '1970-01-01' FROM statement_balances WHERE org_id = $1 AND entity_id = $2)
         ) AS newest`,
        [organizationId, entityId, except.map(({ account }) => account), except.map(({ external_id }) => external_id)],
      )
      return row!.newest
    },

    /** Those of the named balances that are recorded, each as it was sent last. */
    async namedBalances(
      organizationId: string,
      entityId: string,
      names: readonly BalanceName[],
    ): Promise<StatementBalanceRow[]> {
      return database.query<StatementBalanceRow & Row>(
        `SELECT known.* FROM unnest($3::text[], $4::text[], $5::date[], $6::text[]) AS sent (account, currency, as_of, kind)
         CROSS JOIN LATERAL (
           SELECT ${BALANCE_COLUMNS} FROM statement_balances AS balance WHERE org_id = $1 AND entity_id = $2 AND account = sent.account
             AND currency = sent.currency AND as_of = sent.as_of AND kind = sent.kind ORDER BY entity_version DESC LIMIT 1) AS known`,
        [
          organizationId,
          entityId,
          names.map(({ account }) => account),
          names.map(({ currency }) => currency),
          names.map(({ as_of }) => as_of),
          names.map(({ kind }) => kind),
        ],
      )
    },

    /** The balances of these days, counted since 1970, each as it was sent last. */
    async balancesOfDays(
      organizationId: string,
      entityId: string,
      days: readonly number[],
    ): Promise<StatementBalanceRow[]> {
      return database.query<StatementBalanceRow & Row>(
        `SELECT DISTINCT ON (account, currency, balance.as_of, kind) ${BALANCE_COLUMNS} FROM statement_balances AS balance
         WHERE org_id = $1 AND entity_id = $2 AND balance.as_of - DATE '1970-01-01' = ANY($3::integer[])
         ORDER BY account, currency, balance.as_of, kind, entity_version DESC`,
        [organizationId, entityId, days],
      )
    },

    /** What is known of the accounts of an entity. */
    async accounts(organizationId: string, entityId: string): Promise<NewRow<'bank_accounts'>[]> {
      return database.query<NewRow<'bank_accounts'> & Row>(
        `SELECT entity_id, account, masked, kind, holders, updated_at FROM bank_accounts
         WHERE org_id = $1 AND entity_id = $2 ORDER BY account`,
        [organizationId, entityId],
      )
    },

    /** The sources of the data of an entity: what each provides, its id and its kind. */
    async knownSources(organizationId: string, entityId: string): Promise<KnownSource[]> {
      return database.query<KnownSource & Row>(
        'SELECT provides, id, kind FROM data_sources WHERE org_id = $1 AND entity_id = $2',
        [organizationId, entityId],
        { keepPlan: true },
      )
    },

    /** Where the data of an entity, or of several that were read as one, came from until some time, oldest first. */
    async sources(
      organizationId: string,
      entityIds: readonly string[],
      until: string,
    ): Promise<NewRow<'data_sources'>[]> {
      const rows = await database.query<NewRow<'data_sources'> & Row>(
        `SELECT entity_id, provides, id, kind, name, address, phone, first_at FROM data_sources
         WHERE org_id = $1 AND entity_id = ANY($2::text[]) AND first_at <= $3::timestamptz
         ORDER BY first_at, provides, id, entity_id`,
        [organizationId, entityIds, until],
      )
      return [...Map.groupBy(rows, ({ provides, id }) => `${provides} ${id}`).values()].map(([first]) => first!)
    },
  }
}
