import type { NumberNotation } from '../../components/money/number-notation.ts'
import { type AmountRules, moneyRules } from '../../components/money/read-amount.ts'
import type { Slider } from './playground-request.ts'

/** How the number of a slider stands in its field: by which rules it is read, and how it becomes a value and back. */
export interface SliderField {
  rules: AmountRules
  toField: (value: number) => number
  fromField: (number: number) => number
}

const UNITS: Readonly<Record<string, Pick<AmountRules, 'decimals' | 'units'>>> = {
  share: { decimals: 2, units: ['%'] },
  ratio: { decimals: 3, units: ['×'] },
  days: { decimals: 3, units: ['days', 'day'] },
}
const NO_UNIT = { decimals: 3 }

/**
 * The field of a slider, in the unit in which the page writes its values: a share is percent, money has the decimals of its
 * currency. Only a range that goes below zero takes a minus.
 */
export function sliderField(
  { unit, from }: Pick<Slider, 'unit' | 'from'>,
  { notation, currency }: { notation: NumberNotation; currency: string | undefined },
): SliderField {
  const rules =
    unit === 'money' && currency ? moneyRules(notation, currency) : { notation, ...(UNITS[unit ?? ''] ?? NO_UNIT) }
  const perValue = unit === 'share' ? 100 : 1
  return {
    rules: { ...rules, allows: from < 0 ? 'negative' : from > 0 ? 'above zero' : 'zero' },
    toField: (value) => withoutNoise(value * perValue),
    fromField: (number) => withoutNoise(number / perValue),
  }
}

/** Twelve digits: 0.07 × 100 is 7.000000000000001 as a binary float. */
function withoutNoise(value: number): number {
  return Number(value.toPrecision(12))
}
