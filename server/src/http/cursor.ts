/** Encodes a position in a list as an opaque cursor. */
export function cursorOf(position: number): string {
  return Buffer.from(`v1:${position}`).toString('base64url')
}

/** Decodes a cursor into its position. */
export function readCursor(cursor: string): number | 'malformed' {
  const match = /^v1:(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  return match ? Number(match[1]) : 'malformed'
}
