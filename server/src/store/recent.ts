/**
 * Keeps what was used lately, as much as fits into a number of bytes. What fills half of them is set aside together, and
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
    if (old) this.set(key, old.value, old.bytes)
    return old?.value
  }

  set(key: string, value: V, bytes: number): void {
    this.#youngBytes -= this.#young.get(key)?.bytes ?? 0
    this.#young.delete(key)
    this.#old.delete(key)
    if (bytes > this.#halfBytes) return
    if (this.#youngBytes + bytes > this.#halfBytes) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngBytes = 0
    }
    this.#young.set(key, { value, bytes })
    this.#youngBytes += bytes
  }
}
