/** What waits in a `FairQueue`: it belongs to an organization. */
export interface Queued {
  organizationId: string
}

/**
 * Items that wait, a bounded number for each organization. Organizations take turns, and the items of one come in their
 * order, so an organization that fills its queue delays another by one item at most.
 */
export class FairQueue<Item extends Queued> {
  readonly #waitingMax: number
  /** The first organization has the next turn. */
  readonly #waiting = new Map<string, Item[]>()

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax
  }

  /** How many items wait in all. */
  get size(): number {
    return [...this.#waiting.values()].reduce((sum, items) => sum + items.length, 0)
  }

  /** Whether an organization has as many items as may wait. */
  isFull(organizationId: string): boolean {
    return (this.#waiting.get(organizationId)?.length ?? 0) >= this.#waitingMax
  }

  /** Adds an item behind those of its organization; the caller asks `isFull` before. */
  add(item: Item): void {
    const items = this.#waiting.get(item.organizationId)
    if (items) items.push(item)
    else this.#waiting.set(item.organizationId, [item])
  }

  /** Takes the next item that fits, and gives its organization the last turn. */
  take(fits: (item: Item) => boolean): Item | undefined {
    for (const [organizationId, items] of this.#waiting) {
      const item = items.find(fits)
      if (!item) continue
      this.remove(item)
      if (this.#waiting.delete(organizationId) && items.length > 0) this.#waiting.set(organizationId, items)
      return item
    }
    return undefined
  }

  /** Removes an item, if it waits. */
  remove(item: Item): void {
    const items = this.#waiting.get(item.organizationId) ?? []
    const at = items.indexOf(item)
    if (at >= 0) items.splice(at, 1)
    if (items.length === 0) this.#waiting.delete(item.organizationId)
  }

  /** Removes and returns everything that waits. */
  clear(): Item[] {
    const items = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    return items
  }
}
