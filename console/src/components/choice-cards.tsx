import { Radio } from '@mantine/core'
import classes from './choice-cards.module.css'

/** A choice between a few acts, each with its consequence below its name. */
export function ChoiceCards<V extends string>({
  label,
  isReadOnly,
  value,
  onChange,
  choices,
}: {
  label: string
  /** While the choice is being sent. */
  isReadOnly: boolean
  value: V
  onChange: (value: V) => void
  choices: readonly { value: V; name: string; consequence: string }[]
}) {
  return (
    <Radio.Group aria-label={label} readOnly={isReadOnly} value={value} onChange={(next) => onChange(next as V)}>
      <div className={classes.cards}>
        {choices.map((choice) => (
          <div key={choice.value} className={classes.card}>
            <Radio value={choice.value} label={<b>{choice.name}</b>} description={choice.consequence} />
          </div>
        ))}
      </div>
    </Radio.Group>
  )
}
