import { NumberField, type NumberFieldProps } from './number-field.tsx'
import { currentNotation } from './number-notation.ts'
import { moneyRules } from './read-amount.ts'

/** The one field for an amount of money: in the notation of the person, with the decimals of the currency. */
export function MoneyField({ currency, ...field }: { currency: string } & Omit<NumberFieldProps, 'rules'>) {
  return <NumberField {...field} rules={moneyRules(currentNotation(), currency)} />
}
