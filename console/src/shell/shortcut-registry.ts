import type { Shortcut } from './shortcut-tables.ts'

/** How long the second key of a sequence may take. */
const SEQUENCE_MS = 1_200
const MODIFIERS = ['Shift', 'Control', 'Alt', 'AltGraph', 'Meta']

/** What keys do at the moment, by the key of a table. */
export type Acts = Readonly<Record<string, (() => unknown) | undefined>>

/** The shortcuts of a mounted component; `acts` is read at every key press. */
export interface Registration {
  shortcuts: readonly Shortcut[]
  acts: () => Acts
}

/** A key press, as far as shortcuts look at it. */
export interface ShortcutPress {
  key: string
  timeStamp: number
  /** Whether Control or Command is held. */
  isChord: boolean
  isAlt: boolean
  /** Whether it belongs to a field or to an open dialog, where letters are text. */
  isTyping: boolean
}

/**
 * Finds the act of a key press among the shortcuts of all mounted components. In one of two states:
 *
 *     idle      a key acts at once; one that begins a registered sequence, such as G, leads to `begun`
 *     begun     for `SEQUENCE_MS`, the next key completes the sequence or does nothing, and leads to `idle`
 */
export class ShortcutRegistry {
  readonly #registrations = new Set<Registration>()
  #begun: { key: string; at: number } | undefined

  /** Adds the shortcuts of a component; returns the function that removes them. */
  register(registration: Registration): () => void {
    this.#registrations.add(registration)
    return () => this.#registrations.delete(registration)
  }

  /** The act of a key press, if it has one. */
  actOf(press: ShortcutPress): (() => unknown) | undefined {
    if (MODIFIERS.includes(press.key) || press.isAlt) return undefined
    const key = nameOf(press)
    const begun = this.#begun
    this.#begun = undefined
    if (begun && !press.isTyping && press.timeStamp - begun.at < SEQUENCE_MS) return this.#find(`${begun.key} ${key}`)
    const act = this.#find(key, press.isTyping)
    if (!act && !press.isTyping && this.#beginsSequence(key)) this.#begun = { key, at: press.timeStamp }
    return act
  }

  #find(key: string, isTyping = false): (() => unknown) | undefined {
    for (const { shortcuts, acts } of this.#registrations) {
      const shortcut = shortcuts.find(({ keys }) => keys.includes(key))
      const act = acts()[key]
      if (shortcut && act && (!isTyping || shortcut.whileTyping)) return act
    }
    return undefined
  }

  #beginsSequence(key: string): boolean {
    return [...this.#registrations].some(({ acts }) => Object.keys(acts()).some((name) => name.startsWith(`${key} `)))
  }
}

/** The name of a pressed key in the tables of shortcuts. */
function nameOf({ key, isChord }: ShortcutPress): string {
  const name = key.length === 1 ? key.toUpperCase() : key
  return isChord ? `Mod+${name}` : name
}
