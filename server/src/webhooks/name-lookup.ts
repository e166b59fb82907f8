import { type LookupAddress, lookup } from 'node:dns'

/**
 * Lookups at once. The system's resolver works on the threads that Node has for files and the like, four by default, and
 * cannot be stopped: a name whose servers are silent takes a thread for 10 or 20 seconds. One thread is never taken; one
 * is only for names that were found before; and names that were not, last time, have one between them.
 */
const AT_ONCE = { inAll: 3, unproven: 2, bad: 1 }
/** Who waits for longer gets no answer; the thread may be busy for longer still. */
const PATIENCE_MS = 5_000
/** Short, because an address that was checked must be the one that is used. Every connection checks it all the same. */
const KEEP_FOUND_MS = 2_000
/** Shorter than the wait before a second attempt. */
const KEEP_FAILURE_MS = 3_000
const REMEMBERED_MAX = 10_000

/** Finds every address of a name. */
export type ResolveAll = (hostname: string) => Promise<LookupAddress[]>

type Answer = { addresses: LookupAddress[] } | { error: Error }

/** What is known of a name. */
interface Name {
  hostname: string
  standing: 'unknown' | 'good' | 'bad'
  kept?: { answer: Answer; untilMs: number }
  search?: Search
}

/** A lookup that waits or is under way; all who ask for the same name share it. */
interface Search {
  answer: Promise<Answer>
  settle: (answer: Answer) => void
  state: 'waiting' | 'running'
  timer: NodeJS.Timeout
  isLate: boolean
}

/** What a lookup works with; tests bring their own. */
export interface NameLookupParts {
  resolveAll: ResolveAll
  patienceMs: number
  nowMs: () => number
}

/** Looks names up, so that a name that cannot be found holds up nobody who asks for another. */
export class NameLookup {
  readonly #resolveAll: ResolveAll
  readonly #patienceMs: number
  readonly #nowMs: () => number
  readonly #names = new Map<string, Name>()
  readonly #waiting: Name[] = []
  readonly #running = new Set<Name>()

  constructor(parts: Partial<NameLookupParts> = {}) {
    this.#resolveAll = parts.resolveAll ?? resolveBySystem
    this.#patienceMs = parts.patienceMs ?? PATIENCE_MS
    this.#nowMs = parts.nowMs ?? (() => performance.now())
  }

  /** Every address of a name; rejects when there is none, or none in time. */
  readonly find: ResolveAll = async (hostname) => {
    const answer = await this.#answerOf(this.#nameOf(hostname))
    if ('error' in answer) throw answer.error
    return answer.addresses
  }

  async #answerOf(name: Name): Promise<Answer> {
    if (name.kept && this.#nowMs() < name.kept.untilMs) return name.kept.answer
    // It is still on its thread, and who waited has given up.
    if (name.search?.isLate) return this.#tooLate(name)
    name.search ??= this.#search(name)
    return name.search.answer
  }

  #search(name: Name): Search {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const timer = setTimeout(() => this.#giveUp(name), this.#patienceMs)
    const search: Search = { answer: promise, settle: resolve, state: 'waiting', timer, isLate: false }
    name.search = search
    this.#waiting.push(name)
    this.#startSome()
    return search
  }

  #giveUp(name: Name): void {
    const search = name.search!
    search.isLate = true
    search.settle(this.#tooLate(name))
    if (search.state === 'running') {
      name.standing = 'bad'
      return
    }
    // It never began, which is not its fault; and now nobody waits for it.
    this.#waiting.splice(this.#waiting.indexOf(name), 1)
    delete name.search
  }

  #tooLate({ hostname }: Name): Answer {
    return { error: new Error(`${hostname} could not be looked up within ${this.#patienceMs / 1_000} s`) }
  }

  #startSome(): void {
    for (const name of [...this.#waiting]) {
      if (!this.#hasThread(name)) continue
      this.#waiting.splice(this.#waiting.indexOf(name), 1)
      this.#running.add(name)
      name.search!.state = 'running'
      void this.#run(name)
    }
  }

  #hasThread({ standing }: Name): boolean {
    const count = (isCounted: (name: Name) => boolean) => [...this.#running].filter(isCounted).length
    if (this.#running.size >= AT_ONCE.inAll) return false
    if (standing !== 'good' && count((name) => name.standing !== 'good') >= AT_ONCE.unproven) return false
    return standing !== 'bad' || count((name) => name.standing === 'bad') < AT_ONCE.bad
  }

  async #run(name: Name): Promise<void> {
    const answer: Answer = await this.#resolveAll(name.hostname).then(
      (addresses) => ({ addresses }),
      (error: unknown) => ({ error: error instanceof Error ? error : new Error(String(error)) }),
    )
    const found = 'addresses' in answer
    const search = name.search!
    clearTimeout(search.timer)
    delete name.search
    this.#running.delete(name)
    name.standing = found && !search.isLate ? 'good' : 'bad'
    name.kept = { answer, untilMs: this.#nowMs() + (found ? KEEP_FOUND_MS : KEEP_FAILURE_MS) }
    search.settle(answer)
    this.#startSome()
  }

  #nameOf(hostname: string): Name {
    const known = this.#names.get(hostname)
    if (known) return known
    if (this.#names.size >= REMEMBERED_MAX) this.#forgetOne()
    const name: Name = { hostname, standing: 'unknown' }
    this.#names.set(hostname, name)
    return name
  }

  #forgetOne(): void {
    for (const [hostname, name] of this.#names) {
      if (name.search) continue
      this.#names.delete(hostname)
      return
    }
  }
}

function resolveBySystem(hostname: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) =>
    lookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses))),
  )
}
