import { Textarea } from '@mantine/core'

/** The longest reason that every operation accepts. */
const REASON_LENGTH_MAX = 500

/** Asks why: the reason goes on the audit log with the act. */
export function ReasonField({
  value,
  onChange,
  label = 'Why?',
  description,
  rows = 1,
  isOptional = false,
  isReadOnly = false,
  hasFocus = false,
}: {
  value: string
  onChange: (reason: string) => void
  label?: string
  description?: string
  /** The height of the empty field. */
  rows?: number
  isOptional?: boolean
  /** While the act is being sent. */
  isReadOnly?: boolean
  /** Takes the focus when its dialog opens. */
  hasFocus?: boolean
}) {
  return (
    <Textarea
      label={label}
      description={description ?? (isOptional ? 'Optional; goes on the audit log.' : 'Goes on the audit log.')}
      required={!isOptional}
      autosize
      minRows={rows}
      maxRows={6}
      maxLength={REASON_LENGTH_MAX}
      readOnly={isReadOnly}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...(hasFocus && { 'data-autofocus': true })}
    />
  )
}
