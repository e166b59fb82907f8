/** A mutex per key: work under one key runs one at a time, in order of arrival; other work runs concurrently. */
export class KeyedMutex {
  /** The newest work under each key; it never rejects. */
  readonly #tails = new Map<string, Promise<unknown>>()

  /** Runs work under several keys. All callers lock their keys in sorted order, so they cannot deadlock. */
  lockAll<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const locked = [...new Set(keys)].sort().reduceRight((inner, key) => () => this.lock(key, inner), work)
    return locked()
  }

  /** Runs work once all earlier work under the key has ended, whether that succeeded or failed. */
  async lock<T>(key: string, work: () => Promise<T>): Promise<T> {
    const previous = this.#tails.get(key)
    const result = previous ? previous.then(work) : work()
    const tail = result.catch(() => {})
    this.#tails.set(key, tail)
    try {
      return await result
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    }
  }

  /** Runs work under the key, unless earlier work does not end within `ms`: undefined then, and the work is not begun. */
  lockWithin<T>(key: string, ms: number, work: () => Promise<T>): Promise<T | undefined> {
    const late = Promise.withResolvers<undefined>()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      late.resolve(undefined)
    }, ms)
    const held = this.lock(key, async () => {
      clearTimeout(timer)
      return isLate ? undefined : work()
    })
    return Promise.race([held, late.promise])
  }
}
