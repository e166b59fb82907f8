import type { Violation } from '../../http/violation.ts'
import type { TransactionName, TransactionRow } from '../../store/environment/transactions.ts'
import { isSameContent, isSentAgain, nameOf } from './transaction-row.ts'

/** What a batch asks for with one of its transactions: to record it, to replace the recorded one, or to void that. */
export type Asked =
  | { action: 'record' | 'correct'; row: TransactionRow }
  | { action: 'void'; row: TransactionName & { batch_id: string } }

/** A recorded transaction before and after a batch. */
export interface ChangedTransaction {
  before: TransactionRow
  after: TransactionRow
}

/** What becomes of the transactions of a batch. */
export interface BatchPlan {
  added: TransactionRow[]
  changed: ChangedTransaction[]
  /** What was replaced or voided, in the order of the batch. */
  replaced: { action: 'correct' | 'void'; was: TransactionRow }[]
  accepted: number
  duplicates: number
  /** The external ids of those that are recorded with other content. */
  conflicting: string[]
  violations: Violation[]
}

/** A transaction that is recorded already, or by the batch itself. */
interface Known {
  /** As the database has it; undefined if the batch records it. */
  stored: TransactionRow | undefined
  row: TransactionRow
}

/** Goes through the transactions of a batch in their order, so that one may correct or void another before it. */
export function planBatch(asked: readonly Asked[], recorded: readonly TransactionRow[]): BatchPlan {
  const known = new Map(recorded.map((row): [string, Known] => [nameOf(row), { stored: row, row }]))
  const plan: BatchPlan = {
    added: [],
    changed: [],
    replaced: [],
    accepted: 0,
    duplicates: 0,
    conflicting: [],
    violations: [],
  }
  for (const [index, one] of asked.entries()) {
    const name = nameOf(one.row)
    const found = known.get(name)
    if (found) planKnown(plan, found, one)
    else if (one.action === 'record') {
      known.set(name, { stored: undefined, row: one.row })
      plan.accepted += 1
    } else plan.violations.push(unknown(index, one))
  }
  for (const { stored, row } of known.values()) {
    if (stored === undefined) plan.added.push(row)
    else if (stored !== row) plan.changed.push({ before: stored, after: row })
  }
  return plan
}

function planKnown(plan: BatchPlan, known: Known, asked: Asked): void {
  const { action, row } = asked
  const next = action === 'void' ? { ...known.row, void_batch_id: row.batch_id } : row
  if (isDone(known.row, asked)) plan.duplicates += 1
  else if (action === 'record') plan.conflicting.push(row.external_id)
  else {
    plan.replaced.push({ action, was: known.row })
    known.row = next
  }
}

/** Whether the recorded transaction is as the batch asks for it already. */
function isDone(recorded: TransactionRow, { action, row }: Asked): boolean {
  const isVoid = recorded.void_batch_id !== null
  if (action === 'void' || isVoid) return action === 'void' && isVoid
  return action === 'record' ? isSentAgain(row, recorded) : isSameContent(row, recorded)
}

function unknown(index: number, { action }: Asked): Violation {
  const [what, otherwise] =
    action === 'void'
      ? ['There is no transaction with this external_id to void', 'Leave it out']
      : ['There is no transaction with this external_id to correct', 'Leave out corrects to record it']
  return {
    param: `/transactions/${index}/external_id`,
    message: `${what} on this account. ${otherwise}, or name the account that it was recorded on.`,
  }
}
