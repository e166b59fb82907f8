import { currencyDecimals } from '../../../../server/src/core/schema/currency-decimals.ts'
import type { InputOf } from '../../api/operation-types.ts'
import { currentNotation } from '../../components/money/number-notation.ts'
import { moneyRules, readAmount } from '../../components/money/read-amount.ts'
import { writeAmount } from '../../components/write-number.ts'

/** An approval limit as it is sent. */
export type Limit = InputOf<'approval-limits.set'>['limits'][number]

/** What is written in one row of the form, to the letter. */
export interface RowText {
  /** Names the row while it is edited. */
  key: string
  /** `role reviewer`, `operator opr_1`. */
  holder: string
  product: string
  currency: string
  alone: string
  second: string
}

/** A row before anything was written. */
export function newRow(): RowText {
  return { key: crypto.randomUUID(), holder: 'role reviewer', product: '', currency: 'EUR', alone: '', second: '' }
}

/** The row of a limit that is set. */
export function rowOf({ holder, product, currency, alone, second }: Limit): RowText {
  const write = (amount: number) => writeAmount(amount, currencyDecimals(currency))
  const name = `${holder.type} ${holder.id}`
  return {
    key: `${name} ${product} ${currency}`,
    holder: name,
    product: product ?? '',
    currency,
    alone: write(alone),
    second: second === null ? '' : write(second),
  }
}

/** The rules of the fields for amounts: nothing may be approved alone, too. */
export function limitRules(currency: string) {
  return { ...moneyRules(currentNotation(), currency), allows: 'zero' } as const
}

/** The limit that a row says; undefined while it is not complete. */
export function readRow({ holder, product, currency, alone, second }: RowText): Limit | undefined {
  if (!/^[A-Z]{3}$/.test(currency)) return undefined
  const [most, signs] = [alone, second].map((text) => readAmount(text, limitRules(currency)))
  if (most?.kind !== 'amount' || (signs?.kind !== 'amount' && signs?.kind !== 'empty')) return undefined
  const [type, id] = holder.split(' ') as [Limit['holder']['type'], string]
  return {
    holder: { type, id },
    product: product.trim() === '' ? null : product.trim(),
    currency,
    alone: most.amount,
    second: signs.kind === 'amount' ? signs.amount : null,
  }
}
