/** Lets work on the same key go one after another, and work on different keys side by side. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Waits for a turn on each of some keys, one after another by their names, as everybody does: so none waits in a circle. */
  takeAll<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const turns = [...new Set(keys)].sort().reduceRight((inner, key) => () => this.take(key, inner), work)
    return turns()
  }

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    const turn = before ? before.then(work) : work()
    const settled = turn.catch(() => {})
    this.#last.set(key, settled)
    try {
      return await turn
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key)
    }
  }
}
