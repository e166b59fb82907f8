import { TextInput, type TextInputProps } from '@mantine/core'

/** A field for a code of an authenticator app, or for a recovery code. */
export function OneTimeCodeField({
  value,
  onChange,
  ...field
}: { value: string; onChange: (code: string) => void } & Omit<TextInputProps, 'value' | 'onChange'>) {
  return (
    <TextInput
      autoComplete="one-time-code"
      inputMode="numeric"
      required
      withAsterisk={false}
      minLength={6}
      maxLength={20}
      {...field}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
