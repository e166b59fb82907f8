const KEY_BYTES = 16

/** Makes an idempotency key. `crypto.randomUUID` is missing where the console is served by http under a name. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(KEY_BYTES)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
