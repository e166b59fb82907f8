/** Runs at most so many pieces of work at once; parties with work that waits take turns. */
export class Turns {
  readonly #atOnceMax: number
  /** Work that waits, of each party; the party whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #running = 0

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax
  }

  /** Runs work of a party as soon as its turn comes. */
  async run<T>(party: string, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnceMax) await this.#wait(party)
    else this.#running += 1
    try {
      return await work()
    } finally {
      this.#passOn()
    }
  }

  #wait(party: string): Promise<void> {
    return new Promise((start) => {
      const own = this.#waiting.get(party)
      if (own) own.push(start)
      else this.#waiting.set(party, [start])
    })
  }

  /** Gives the place of work that has ended to the next party, which then goes to the end of the row. */
  #passOn(): void {
    const next = this.#waiting.entries().next()
    if (next.done) {
      this.#running -= 1
      return
    }
    const [party, own] = next.value
    const start = own.shift()!
    this.#waiting.delete(party)
    if (own.length > 0) this.#waiting.set(party, own)
    start()
  }
}
