import type { EntryOnTrail } from '../store/environment/audit-verification.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'

/** The place on a trail that the next entry follows. */
interface Place {
  trail: string
  seq: number
  /** The leaf of the entry before; null if that entry is not sealed, undefined if it may have been sealed since. */
  leaf: number | null | undefined
  isBroken: boolean
}

/**
 * Checks the entries of an organization in the order of their trails: that they are numbered 1, 2, 3 … in the order of
 * sealing, that this service wrote each of them, and that those without a leaf wait for the sealer.
 */
export class TrailCheck {
  readonly #store: Pick<EnvironmentStore, 'hasValidMac' | 'isOwn'>
  readonly #report: (problem: string) => void
  #place: Place = { trail: '', seq: 0, leaf: undefined, isBroken: false }
  /** Entries that wait for the sealer. */
  unsealed = 0

  constructor(store: Pick<EnvironmentStore, 'hasValidMac' | 'isOwn'>, report: (problem: string) => void) {
    this.#store = store
    this.#report = report
  }

  /** Checks the next entries in the order of trail and sequence number, all read by one statement. */
  addPage(entries: readonly EntryOnTrail[]): void {
    for (const entry of entries) {
      this.#checkPlace(entry)
      this.#checkOrigin(entry)
    }
    // The sealer goes on between two statements: an entry that was pending in this page may be sealed in the next.
    if (this.#place.leaf === null) this.#place.leaf = undefined
  }

  #checkPlace({ trail_id, seq, leaf_index }: EntryOnTrail): void {
    const before = this.#place
    const isFirst = before.trail !== trail_id
    const isNext = seq === (isFirst ? 1 : before.seq + 1)
    const isInOrder =
      isFirst || leaf_index === null || before.leaf === undefined || (before.leaf !== null && before.leaf < leaf_index)
    const isBroken = (!isFirst && before.isBroken) || !isNext || !isInOrder
    if (isBroken && (isFirst || !before.isBroken))
      this.#report(`The sequence numbers on the trail of ${trail_id} are not 1, 2, 3 … in the order of sealing.`)
    this.#place = { trail: trail_id, seq, leaf: leaf_index, isBroken }
  }

  #checkOrigin(entry: EntryOnTrail): void {
    const { id, sealed_hash } = entry
    if (sealed_hash !== null) {
      // An edited entry is reported with its leaf, so only the MAC of the sealed content is checked here.
      if (!this.#store.hasValidMac({ ...entry, leaf_hash: sealed_hash }))
        this.#report(`The MAC of entry ${id} at leaf ${entry.leaf_index} was changed.`)
      return
    }
    if (!this.#store.isOwn(entry))
      this.#report(`Entry ${id} was not written by this service, or edited before it was sealed: its MAC is not valid.`)
    else if (entry.is_queued) this.unsealed += 1
    else this.#report(`Entry ${id} was never sealed: the list of its statement does not name it.`)
  }
}
