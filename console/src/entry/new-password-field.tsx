import { PasswordInput } from '@mantine/core'
import { useId } from 'react'
import classes from './new-password-field.module.css'

/** The server refuses shorter ones. */
const CHARACTERS_MIN = 12
/** From these lengths on, each of the four bars is filled. */
const BARS = [1, CHARACTERS_MIN, 16, 20]

/** A field for a password that is being chosen, with a measure of its length: what makes one hard to guess. */
export function NewPasswordField({
  label = 'Password',
  isReadOnly = false,
  value,
  onChange,
}: {
  label?: string
  /** While it is being sent. */
  isReadOnly?: boolean
  value: string
  onChange: (password: string) => void
}) {
  const hintId = useId()
  const { length } = [...value]
  return (
    <div>
      <PasswordInput
        label={label}
        autoComplete="new-password"
        required
        withAsterisk={false}
        maxLength={128}
        readOnly={isReadOnly}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the password', tabIndex: 0 }}
        aria-describedby={hintId}
      />
      <div className={classes.meter} aria-hidden="true">
        {BARS.map((from) => (
          <i key={from} data-on={length >= from || undefined} />
        ))}
      </div>
      <p id={hintId} className={classes.hint}>
        {length < CHARACTERS_MIN
          ? `At least ${CHARACTERS_MIN} characters. Several words are easy to remember.`
          : `${length} characters. The server refuses it if attackers would try it first.`}
      </p>
    </div>
  )
}
