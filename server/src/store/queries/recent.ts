/** What an item takes besides what it is said to take: its key, its place in a map, and the objects around it. */
const OVERHEAD_BYTES = 300

/**
 * Keeps what was used lately, as much as fits into a number of bytes, about. What fills half of them is set aside together, and
 * forgotten with the next half unless somebody asked for it meanwhile: nothing is moved about for whoever asks again.
 */
export class Recent<V> {
  readonly #halfBytes: number
  #young = new Map<string, { value: V; bytes: number }>()
  #old = new Map<string, { value: V; bytes: number }>()
  #youngBytes = 0

  constructor(bytesMax: number) {
    this.#halfBytes = bytesMax / 2
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key)
    if (young) return young.value
    const old = this.#old.get(key)
    if (old) this.#keep(key, old)
    return old?.value
  }

  /** `bytes`: what the value takes, as far as it can be told. */
  set(key: string, value: V, bytes: number): void {
    this.#keep(key, { value, bytes: bytes + OVERHEAD_BYTES })
  }

  #keep(key: string, item: { value: V; bytes: number }): void {
    this.#youngBytes -= this.#young.get(key)?.bytes ?? 0
    this.#young.delete(key)
    this.#old.delete(key)
    if (item.bytes > this.#halfBytes) return
    if (this.#youngBytes + item.bytes > this.#halfBytes) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngBytes = 0
    }
    this.#young.set(key, item)
    this.#youngBytes += item.bytes
  }
}
