/** Reads a key a caller has named, such as `constructor`, without ever seeing what an object inherits. */
export function ownProperty<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}
