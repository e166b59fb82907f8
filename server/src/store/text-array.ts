/** The number of PostgreSQL's type `text` (pg_type.oid). */
const TEXT = 25
const HEADER_BYTES = 20
const NULL_LENGTH = -1
/** UTF-8 needs at most three bytes for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3

/**
 * A `text[]` in PostgreSQL's binary form, which the driver sends as it is. As text, every quotation mark of every JSON
 * document would be escaped here and taken out there; for batches of decisions that was a tenth of the time on both sides.
 */
export function encodeTextArray(values: readonly (string | null)[]): Buffer {
  let room = HEADER_BYTES
  for (const value of values) room += 4 + (value === null ? 0 : value.length * BYTES_PER_UNIT)
  const bytes = Buffer.allocUnsafe(room)
  let hasNull = 0
  let at = HEADER_BYTES
  for (const value of values) {
    if (value === null) {
      hasNull = 1
      at = bytes.writeInt32BE(NULL_LENGTH, at)
      continue
    }
    const length = bytes.write(value, at + 4, 'utf8')
    bytes.writeInt32BE(length, at)
    at += 4 + length
  }
  const dimensions = values.length > 0 ? 1 : 0
  bytes.writeInt32BE(dimensions, 0)
  bytes.writeInt32BE(hasNull, 4)
  bytes.writeInt32BE(TEXT, 8)
  bytes.writeInt32BE(values.length, 12)
  bytes.writeInt32BE(1, 16) // the index of the first element
  return bytes.subarray(0, dimensions === 0 ? 12 : at)
}
