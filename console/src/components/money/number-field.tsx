import { Button, TextInput } from '@mantine/core'
import { IconEqual } from '@tabler/icons-react'
import { type ReactNode, useRef, useState } from 'react'
import { writeAmount, writeMoney } from '../write-number.ts'
import classes from './number-field.module.css'
import { type AmountRules, type Reading, readAmount } from './read-amount.ts'

/** What a field for a number needs. */
export interface NumberFieldProps {
  label?: string
  /** The name where there is no label to see. */
  'aria-label'?: string
  description?: ReactNode
  placeholder?: string
  readOnly?: boolean
  /** What was typed, to the letter: the field never rewrites it while it has the focus. */
  text: string
  onText: (text: string) => void
  rules: AmountRules
  /** False while the text is the page's own, in which nothing is wrong. */
  isTyped?: boolean
  /** What to say where the field is left empty; it may be if this is absent. */
  whenEmpty?: string
  /** Stands behind what was understood: "all that was asked". */
  comment?: ReactNode
  /** True once the form was sent: problems then show without leaving the field. */
  isSent?: boolean
  onFocused?: (isFocused: boolean) => void
  /** By which a form finds the field that it puts the focus on. */
  'data-field'?: string
}

/**
 * Takes a number as people write it, and says what it understood. A text that could mean two amounts is asked back with both as
 * buttons. Problems show when the field is left or the form is sent, not at every key.
 */
export function NumberField({
  text,
  onText,
  rules,
  isTyped = true,
  whenEmpty,
  comment,
  isSent,
  onFocused,
  ...input
}: NumberFieldProps) {
  const [isLeft, setLeft] = useState(false)
  const frame = useRef<HTMLDivElement>(null)
  const reading = readAmount(text, rules)
  const unit = rules.currency ?? rules.units?.[0]
  const showsProblem = isTyped && (isLeft || isSent)
  const problem = showsProblem ? problemOf(reading, whenEmpty) : undefined
  const choose = (amount: number) => {
    onText(writeAmount(amount, rules.decimals))
    frame.current?.querySelector('input')?.focus()
  }
  return (
    <div className={classes.field} ref={frame}>
      <TextInput
        {...input}
        inputMode="decimal"
        autoComplete="off"
        spellCheck={false}
        required={whenEmpty !== undefined}
        value={text}
        error={problem}
        onChange={(event) => {
          setLeft(false)
          onText(event.currentTarget.value)
        }}
        onFocus={() => onFocused?.(true)}
        onBlur={() => {
          setLeft(true)
          onFocused?.(false)
        }}
        {...(unit && {
          rightSection: <span className="small dim">{unit}</span>,
          rightSectionWidth: 52,
          rightSectionPointerEvents: 'none',
        })}
      />
      {showsProblem && reading.kind === 'unclear' && (
        <fieldset className={classes.readings}>
          <legend className="visually-hidden">Which amount is it?</legend>
          {reading.amounts.map((amount) => (
            <Button key={amount} variant="default" size="compact-sm" onClick={() => choose(amount)}>
              {writeRead(amount, rules)}
            </Button>
          ))}
        </fieldset>
      )}
      <p className={classes.understood} aria-live="polite">
        {isTyped && reading.kind === 'amount' && (
          <Understood amount={reading.amount} text={text} rules={rules} comment={comment} />
        )}
      </p>
    </div>
  )
}

/** What was understood; nothing where the text says it already. */
function Understood({
  amount,
  text,
  rules,
  comment,
}: { amount: number } & Pick<NumberFieldProps, 'text' | 'rules' | 'comment'>) {
  if (!comment && text === writeAmount(amount, rules.decimals)) return null
  return (
    <>
      <IconEqual size={14} stroke={1.75} aria-hidden="true" />
      <b className="num">{writeRead(amount, rules)}</b>
      {comment && <span className="secondary">{comment}</span>}
    </>
  )
}

/** A number as it was understood, with its currency or its unit. */
export function writeRead(amount: number, { currency, units: [unit] = [], decimals }: AmountRules): string {
  if (currency && /^[A-Z]{3}$/.test(currency)) return writeMoney(amount, currency)
  const written = writeAmount(amount, decimals)
  return unit === undefined ? written : `${written}\u00a0${unit}`
}

function problemOf(reading: Reading, whenEmpty: string | undefined): string | undefined {
  if (reading.kind === 'empty') return whenEmpty
  return reading.kind === 'amount' ? undefined : reading.why
}
