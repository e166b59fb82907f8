/** A field of an entry's data in words; `before` if the entry says what it was. */
export interface Change {
  name: string
  before?: string
  after: string
}

/**
 * The data of an entry as rows. What an entry says of a former value is beside the new one: `{ before, after }`,
 * `from` beside `to`, and `previous_host` beside `host`.
 */
export function changesOf(data: Readonly<Record<string, unknown>>): Change[] {
  const changes: Change[] = []
  const isMove = 'from' in data && 'to' in data
  if (isMove) changes.push({ name: 'role', before: write(data.from), after: write(data.to) })
  for (const [name, value] of Object.entries(data)) {
    if (isMove && (name === 'from' || name === 'to')) continue
    if (name.startsWith('previous_') && name.slice('previous_'.length) in data) continue
    const previous = data[`previous_${name}`]
    if (isPair(value)) changes.push({ name, before: write(value.before), after: write(value.after) })
    else changes.push({ name, ...(previous !== undefined && { before: write(previous) }), after: write(value) })
  }
  return changes
}

function isPair(value: unknown): value is { before: unknown; after: unknown } {
  return typeof value === 'object' && value !== null && 'before' in value && 'after' in value
}

function write(value: unknown): string {
  if (value === null) return 'none'
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map(write).join(', ') || 'none'
  if (typeof value === 'object') return JSON.stringify(value)
  return String(value)
}
