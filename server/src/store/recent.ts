/** Keeps what was used last, as much as fits into a number of bytes. */
export class Recent<V> {
  readonly #kept = new Map<string, { value: V; bytes: number }>()
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get(key: string): V | undefined {
    const found = this.#kept.get(key)
    if (!found) return undefined
    // A map keeps its order of insertion, so what comes first was not used for longest.
    this.#kept.delete(key)
    this.#kept.set(key, found)
    return found.value
  }

  set(key: string, value: V, bytes: number): void {
    this.#remove(key)
    if (bytes > this.#bytesMax) return
    this.#kept.set(key, { value, bytes })
    this.#bytes += bytes
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) return
      this.#remove(oldest)
    }
  }

  #remove(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0
    this.#kept.delete(key)
  }
}
