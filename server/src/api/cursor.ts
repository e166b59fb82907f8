/** Encodes a position in a list as an opaque cursor, which is valid for that list only. */
export function cursorOf(listId: string, position: number): string {
  return Buffer.from(`v1:${position}:${listId}`).toString('base64url')
}

/** Decodes a cursor of a list into its position; a cursor of another list is malformed. */
export function readCursor(listId: string, cursor: string): number | 'malformed' {
  const [version, position = '', ...rest] = Buffer.from(cursor, 'base64url').toString('latin1').split(':')
  const isOfList = version === 'v1' && rest.join(':') === listId
  return isOfList && /^\d{1,15}$/.test(position) ? Number(position) : 'malformed'
}
