/** Reads a key that a caller chose; a key such as `constructor` never reads an inherited property. */
export function ownProperty<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}
