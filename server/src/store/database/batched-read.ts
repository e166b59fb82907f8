import { setImmediate } from 'node:timers/promises'
import { DatabaseUnavailable } from './database.ts'

/** The most keys that one statement looks up. */
const KEYS_MAX = 512

interface Waiting<Key, Value> {
  key: Key
  resolve: (value: Value | undefined) => void
  reject: (error: unknown) => void
}

/**
 * Batches look-ups by key into shared round trips: keys requested in one turn of the event loop, or while a query is in
 * flight, are read by the next query together. `load` returns the values it found, by the text of their key.
 */
export function batchedRead<Key, Value>({
  keyText,
  load,
}: {
  keyText: (key: Key) => string
  load: (keys: Key[]) => Promise<Map<string, Value>>
}): (key: Key) => Promise<Value | undefined> {
  const queue: Waiting<Key, Value>[] = []
  let reading = false

  async function readBatch(batch: Waiting<Key, Value>[]): Promise<void> {
    try {
      const found = await load(batch.map(({ key }) => key))
      for (const { key, resolve } of batch) resolve(found.get(keyText(key)))
    } catch (error) {
      for (const { reject } of batch) reject(error)
      // Without an answer, the keys behind them would only wait for the same timeout.
      if (error instanceof DatabaseUnavailable) for (const { reject } of queue.splice(0)) reject(error)
    }
  }

  async function readAll(): Promise<void> {
    // The server parses requests that arrive together one after another. A query for the first key alone would make all
    // others wait for its round trip.
    await setImmediate()
    while (queue.length > 0) {
      const batch = queue.splice(0, KEYS_MAX)
      await readBatch(batch)
    }
    reading = false
  }

  return (key) =>
    new Promise((resolve, reject) => {
      queue.push({ key, resolve, reject })
      if (reading) return
      reading = true
      void readAll()
    })
}
