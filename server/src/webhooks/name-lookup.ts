import { type LookupAddress, lookup } from 'node:dns'

/**
 * Lookups at once. The system's resolver works on the threads that Node has for files and the like, four by default, and
 * cannot be stopped: a name whose servers are silent takes a thread for 10 or 20 seconds. One thread is never taken; one
 * is only for names whose last lookup was quick; and names whose last was slow have one between them.
 */
const AT_ONCE = { inAll: 3, unproven: 2, slow: 1 }
/** A lookup that takes its thread for longer is slow, whether it finds something or not. */
const QUICK_MS = 1_000
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
  /** How long its last lookup took; how it ended does not matter, because a quick failure holds up nobody. */
  pace: 'unknown' | 'quick' | 'slow'
  kept?: { answer: Answer; untilMs: number }
  /** Those who wait for it; all who ask for the same name share one answer. */
  asked?: Asked
  /** When its last lookup began. */
  begunMs: number
  /** Those who waited have given up while it was under way. */
  isLate: boolean
}

interface Asked {
  answer: Promise<Answer>
  settle: (answer: Answer) => void
  timer: NodeJS.Timeout
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
  /** In order of asking. A name keeps its place when those who asked give up: otherwise its turn might never come. */
  readonly #waiting = new Set<Name>()
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
    if (this.#running.has(name) && name.isLate) return this.#tooLate(name)
    name.asked ??= this.#ask(name)
    if (!this.#running.has(name)) this.#waiting.add(name)
    const { answer } = name.asked
    this.#startSome()
    return answer
  }

  #ask(name: Name): Asked {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    return { answer: promise, settle: resolve, timer: setTimeout(() => this.#giveUp(name), this.#patienceMs) }
  }

  #giveUp(name: Name): void {
    name.asked!.settle(this.#tooLate(name))
    delete name.asked
    // One that never began is not to blame.
    if (!this.#running.has(name)) return
    name.isLate = true
    name.pace = 'slow'
  }

  #tooLate({ hostname }: Name): Answer {
    return { error: new Error(`${hostname} could not be looked up within ${this.#patienceMs / 1_000} s`) }
  }

  #startSome(): void {
    for (let name = this.#next(); name; name = this.#next()) {
      this.#waiting.delete(name)
      this.#running.add(name)
      name.begunMs = this.#nowMs()
      name.isLate = false
      void this.#run(name)
    }
  }

  /** The first that there is a thread for; of those that are slow, the one whose last turn was longest ago. */
  #next(): Name | undefined {
    if (this.#running.size >= AT_ONCE.inAll) return undefined
    const waiting = [...this.#waiting]
    const first = waiting.find((name) => this.#hasThread(name))
    if (first?.pace !== 'slow') return first
    return waiting.reduce(
      (oldest, name) => (name.pace === 'slow' && name.begunMs < oldest.begunMs ? name : oldest),
      first,
    )
  }

  #hasThread({ pace }: Name): boolean {
    const count = (isCounted: (name: Name) => boolean) => [...this.#running].filter(isCounted).length
    if (pace !== 'quick' && count((name) => name.pace !== 'quick') >= AT_ONCE.unproven) return false
    return pace !== 'slow' || count((name) => name.pace === 'slow') < AT_ONCE.slow
  }

  async #run(name: Name): Promise<void> {
    const answer: Answer = await this.#resolveAll(name.hostname).then(
      (addresses) => ({ addresses }),
      (error: unknown) => ({ error: error instanceof Error ? error : new Error(String(error)) }),
    )
    const { asked, begunMs } = name
    clearTimeout(asked?.timer)
    delete name.asked
    this.#running.delete(name)
    name.pace = this.#nowMs() - begunMs > QUICK_MS ? 'slow' : 'quick'
    const keepMs = 'addresses' in answer ? KEEP_FOUND_MS : KEEP_FAILURE_MS
    name.kept = { answer, untilMs: this.#nowMs() + keepMs }
    asked?.settle(answer)
    this.#startSome()
  }

  #nameOf(hostname: string): Name {
    const known = this.#names.get(hostname)
    if (known) return known
    if (this.#names.size >= REMEMBERED_MAX) this.#forgetOne()
    const name: Name = { hostname, pace: 'unknown', begunMs: 0, isLate: false }
    this.#names.set(hostname, name)
    return name
  }

  #forgetOne(): void {
    for (const [hostname, name] of this.#names) {
      if (name.asked || this.#running.has(name)) continue
      this.#waiting.delete(name)
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
