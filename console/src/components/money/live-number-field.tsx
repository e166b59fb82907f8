import { useEffect, useState } from 'react'
import { writeNumber } from '../write-number.ts'
import { NumberField, type NumberFieldProps } from './number-field.tsx'
import { type AmountRules, readAmount } from './read-amount.ts'

/** The decimals of a number that comes from elsewhere: as many as amounts have, so that none is shown rounded. */
const DECIMALS_SHOWN = 4

/** What a field needs whose number can change elsewhere too. */
interface LiveNumberFieldProps
  extends Pick<NumberFieldProps, 'label' | 'aria-label' | 'description' | 'placeholder' | 'readOnly'> {
  value: number | null
  /** Every number that was understood; null where the field was emptied, if it may be. */
  onValue: (value: number | null) => void
  rules: AmountRules
  whenEmpty?: string
  /** Whether the text says what `value` is. */
  onClear?: (isClear: boolean) => void
}

/** A field for a number that can change elsewhere too, as by a slider or the URL. What is typed stays while it has the focus. */
export function LiveNumberField({ value, onValue, rules, onClear, ...field }: LiveNumberFieldProps) {
  const [typed, setTyped] = useState<{ text: string; means: number | null }>()
  const [isFocused, setFocused] = useState(false)
  const written = value === null ? '' : writeNumber(value, { maximumFractionDigits: DECIMALS_SHOWN })
  const shown = typed && (isFocused || typed.means === value) ? typed : undefined
  const kind = shown && readAmount(shown.text, rules).kind
  const isClear = kind === undefined || kind === 'amount' || (kind === 'empty' && field.whenEmpty === undefined)
  useEffect(() => {
    onClear?.(isClear)
    return () => onClear?.(true)
  }, [isClear, onClear])
  const change = (next: string) => {
    const reading = readAmount(next, rules)
    const isEmptied = reading.kind === 'empty' && field.whenEmpty === undefined
    const means = reading.kind === 'amount' ? reading.amount : isEmptied ? null : value
    setTyped({ text: next, means })
    if (means !== value) onValue(means)
  }
  return (
    <NumberField
      {...field}
      text={shown?.text ?? written}
      isTyped={shown !== undefined}
      onText={change}
      onFocused={setFocused}
      rules={rules}
    />
  )
}
