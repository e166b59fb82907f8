/** What a person typed and has not sent, and the idempotency key that it was sent under if no answer came. */
export interface KeptDraft {
  value: unknown
  /** When it was typed, in milliseconds. */
  atMs: number
  key?: string
  /** True if no answer came to it and another act on the object followed: it may be done, but sent again it is a new act. */
  wasSent?: boolean
  /** The visit of the page in which it was typed: a tab, until it is reloaded. */
  visit: string
  /** What it replaced that was typed in other visits, newest first. */
  older?: readonly OlderDraft[]
}

/** A draft that a newer one replaced. */
type OlderDraft = Pick<KeptDraft, 'value' | 'atMs'>

/** The part of the browser's storage that drafts need. */
type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

const PREFIX = 'verdigraph-draft '
const KEPT_MS = 7 * 24 * 3_600_000
const OLDER_MAX = 3

/**
 * Keeps drafts in the browser, by account and object. All tabs share them: the newest wins, and what another visit had typed is
 * kept beside it. Secrets are never given to it.
 */
export class DraftStore {
  readonly #storage: DraftStorage
  readonly #visit: string
  readonly #now: () => number
  readonly #listeners = new Set<() => void>()
  /** Drafts for which the browser had no room: they last as long as the page. */
  readonly #unsaved = new Map<string, string>()

  constructor(storage: DraftStorage, visit: string, now: () => number = Date.now) {
    this.#storage = storage
    this.#visit = visit
    this.#now = now
  }

  /** Registers a listener of every change; returns the function that removes it. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The text of a draft as it is stored, which is equal for equal drafts; null if there is none. */
  read(name: string): string | null {
    return this.#unsaved.get(name) ?? this.#storage.getItem(PREFIX + name)
  }

  /** The draft that a stored text describes, unless it is too old or not a draft; without what it replaced that is too old. */
  parse(text: string | null): KeptDraft | undefined {
    if (text === null) return undefined
    try {
      const { older = [], ...draft } = JSON.parse(text) as KeptDraft
      if (!this.#isKept(draft)) return undefined
      const kept = older.filter((replaced) => this.#isKept(replaced))
      return kept.length > 0 ? { ...draft, older: kept } : draft
    } catch {
      return undefined
    }
  }

  #isKept({ atMs }: OlderDraft): boolean {
    return typeof atMs === 'number' && this.#now() - atMs < KEPT_MS
  }

  /** Keeps a draft, and beside it what it replaces of other visits, unless `older` says what is kept. */
  write(name: string, draft: Pick<KeptDraft, 'value' | 'key'>, older = this.#replacedBy(name)): void {
    this.#keep(name, { ...draft, atMs: this.#now(), visit: this.#visit, ...(older.length > 0 && { older }) })
  }

  #keep(name: string, kept: KeptDraft): void {
    const text = JSON.stringify(kept)
    try {
      this.#storage.setItem(PREFIX + name, text)
      this.#unsaved.delete(name)
    } catch {
      this.#unsaved.set(name, text)
    }
    this.changed()
  }

  remove(name: string): void {
    this.#unsaved.delete(name)
    this.#storage.removeItem(PREFIX + name)
    this.changed()
  }

  /** Drops the keys of the other drafts about the object of an act that is done: after it, the same words are a new act. */
  dropKeys(done: string): void {
    for (const name of this.#names()) {
      const draft = isUndoneBy(name, done) ? this.parse(this.read(name)) : undefined
      if (!draft?.key) continue
      const { key: _, ...kept } = draft
      this.#keep(name, { ...kept, wasSent: true })
    }
  }

  /** Whether a draft was typed in this visit of the page. */
  isOfThisVisit({ visit }: Pick<KeptDraft, 'visit'>): boolean {
    return visit === this.#visit
  }

  /** Removes every draft of an account, when its person signs out. */
  forget(accountId: string): void {
    for (const name of this.#names()) if (name.startsWith(`${accountId} `)) this.remove(name)
  }

  /** Removes what is too old, of all accounts of this browser. */
  sweep(): void {
    for (const name of this.#names()) {
      const text = this.read(name)
      const draft = this.parse(text)
      if (!draft) this.remove(name)
      else if (JSON.stringify(draft) !== text) this.#keep(name, draft)
    }
  }

  /** Tells the listeners, also after another tab changed the storage. */
  changed = (): void => {
    for (const listener of this.#listeners) listener()
  }

  /** What the next draft of this visit replaces. */
  #replacedBy(name: string): readonly OlderDraft[] {
    const replaced = this.parse(this.read(name))
    if (!replaced) return []
    const { value, atMs, visit, older = [] } = replaced
    return visit === this.#visit ? older : [{ value, atMs }, ...older].slice(0, OLDER_MAX)
  }

  #names(): string[] {
    const keys = Array.from({ length: this.#storage.length }, (_, index) => this.#storage.key(index))
    const stored = keys.flatMap((key) => (key?.startsWith(PREFIX) ? [key.slice(PREFIX.length)] : []))
    return [...new Set([...stored, ...this.#unsaved.keys()])]
  }
}

/** Acts that change nothing about their object. */
const REMARKS = /\b(note|comment) \S+$/

/** Whether an act may undo what a draft was sent for: another act on the same object, by the same account in the same place. */
function isUndoneBy(name: string, done: string): boolean {
  if (name === done || REMARKS.test(name) || REMARKS.test(done)) return false
  const [draft, act] = [name.split(' '), done.split(' ')]
  // Account, organization and environment.
  const isSamePlace = [0, 1, 2].every((word) => draft[word] === act[word])
  return isSamePlace && draft.at(-1) === act.at(-1)
}
