/** A place in a list, in a form that callers hand back without reading it. */
export function cursorOf(place: number): string {
  return Buffer.from(`v1:${place}`).toString('base64url')
}

/** The place that a cursor names. */
export function readCursor(cursor: string): number | 'malformed' {
  const match = /^v1:(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  return match ? Number(match[1]) : 'malformed'
}
