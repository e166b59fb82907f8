/** Puts what a browser says about a passkey into words; it does not tell whether the person or the device refused. */
export function explainPasskeyError(error: unknown): never {
  const { name } = error as Error
  if (name === 'InvalidStateError') throw new Error('This device has a passkey of your account already.')
  if (name === 'NotAllowedError' || name === 'AbortError')
    throw new Error('The browser got no passkey: it was cancelled, took too long, or this device has none.')
  throw new Error('This browser cannot use a passkey here.')
}
