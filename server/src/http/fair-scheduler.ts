/** The time that the turns of one party may take together before the event loop goes on and the other parties have theirs. */
const QUANTUM_MS = 1
/**
 * The same of a party that is alone. The changes of one round share a statement: with rounds of 1 ms, one organization
 * with 64 connections wrote 2 or 3 decisions with each, and 17 with rounds of 8 ms.
 */
const QUANTUM_ALONE_MS = 8
/** A party counts as active for this long after its last turn: its request waits for the database, or its client sends the next. */
const ACTIVE_MS = 20

/** The clock and the timers that a scheduler runs by. */
export interface SchedulerClock {
  nowMs(): number
  /** Calls back once the event loop has looked for new requests and answers. */
  onNextRound(callback: () => void): void
  /** Calls back once the running callback and all promises that it settled are through. */
  onSettled(callback: () => void): void
  after(ms: number, callback: () => void): void
}

interface Party {
  /** The turns that were asked for and not given, oldest first. */
  waiting: (() => void)[]
  /** What its turns have taken in this round. */
  usedMs: number
  /** What its turns may take together in this round. */
  quantumMs: number
  /** What its turns have taken beyond their quantum, less the time without long turns since. */
  debtMs: number
  activeUntilMs: number
}

/**
 * Shares the event loop between parties, which are organizations, by the time that each was measured to use.
 *
 * A piece of work that may take long, such as parsing a body or judging a request, first waits for a turn. One turn is
 * given at a time, and ends when the code that waited for it and all promises that it settled are through. In each round of
 * the event loop, the parties with work take turns until each has used its quantum.
 *
 * A turn cannot be interrupted, so a party whose turn took longer than the quantum is in debt. While other parties are
 * active, it waits until the event loop was free of such long turns for as long as its own was too long. The others may
 * have no work at that moment, because their requests wait for the database or for the network: without the
 * pause, each step of a short request would meet a long turn of another party.
 *
 * A party alone never waits: its debts are forgotten, its quantum is longer, also in a round that others join, and rounds
 * follow each other at once.
 */
export class FairScheduler {
  readonly #clock: SchedulerClock
  /** The parties that wait, are active or are in debt; the one whose turn is next comes first. */
  readonly #parties = new Map<string, Party>()
  #isServing = false
  #isRoundScheduled = false
  #isTimerSet = false
  #roundBeganMs = 0

  constructor(clock: SchedulerClock = nodeClock) {
    this.#clock = clock
  }

  /** Resolves when it is the party's turn. What follows in the same microtasks is measured. */
  turn(name: string): Promise<void> {
    return new Promise((resolve) => {
      this.#partyNamed(name).waiting.push(resolve)
      if (this.#isServing) return
      this.#isServing = true
      this.#clock.onSettled(() => {
        this.#grantQuanta()
        this.#serveNext()
      })
    })
  }

  readonly #serveNext = (): void => {
    const next = this.#takeNext()
    if (!next) {
      this.#isServing = false
      this.#endRound()
      return
    }
    const [party, begin] = next
    const beganMs = this.#clock.nowMs()
    begin()
    this.#clock.onSettled(() => {
      const nowMs = this.#clock.nowMs()
      party.usedMs += nowMs - beganMs
      party.activeUntilMs = nowMs + ACTIVE_MS
      this.#serveNext()
    })
  }

  /** Takes the oldest turn of the first party that may have one; the party then goes to the end of the row. */
  #takeNext(): [party: Party, begin: () => void] | undefined {
    for (const [name, party] of this.#parties) {
      if (party.waiting.length === 0 || party.debtMs > 0 || party.usedMs >= party.quantumMs) continue
      this.#parties.delete(name)
      this.#parties.set(name, party)
      return [party, party.waiting.shift()!]
    }
    return undefined
  }

  /** Begins another round once the event loop has gone on, or when the first debt is paid if all that wait are in debt. */
  #endRound(): void {
    const parties = [...this.#parties.values()]
    if (parties.some(({ usedMs }) => usedMs > 0)) {
      if (this.#isRoundScheduled) return
      this.#isRoundScheduled = true
      this.#clock.onNextRound(() => {
        this.#isRoundScheduled = false
        this.#beginRound()
      })
      return
    }
    const debtsMs = parties.flatMap(({ waiting, debtMs }) => (waiting.length > 0 ? [debtMs] : []))
    if (debtsMs.length === 0 || this.#isTimerSet) return
    this.#isTimerSet = true
    this.#clock.after(Math.ceil(Math.min(...debtsMs, ACTIVE_MS)), () => {
      this.#isTimerSet = false
      this.#beginRound()
    })
  }

  #beginRound(): void {
    const nowMs = this.#clock.nowMs()
    this.#forgetIdle(nowMs)
    const parties = [...this.#parties.values()]
    const longTurnsMs = parties.reduce((sum, { usedMs, quantumMs }) => (usedMs > quantumMs ? sum + usedMs : sum), 0)
    const freeMs = Math.max(0, nowMs - this.#roundBeganMs - longTurnsMs)
    this.#roundBeganMs = nowMs
    for (const party of parties) {
      const overMs = Math.max(0, party.usedMs - party.quantumMs)
      party.debtMs = parties.length === 1 ? 0 : Math.max(0, party.debtMs - freeMs) + overMs
      party.usedMs = 0
    }
    this.#grantQuanta()
    if (this.#isServing) return
    this.#isServing = true
    this.#serveNext()
  }

  /** Grants the quanta of a round that has had no turn yet: a party that began it alone keeps its own if others join. */
  #grantQuanta(): void {
    const parties = [...this.#parties.values()]
    if (parties.some(({ usedMs }) => usedMs > 0)) return
    for (const party of parties) party.quantumMs = parties.length > 1 ? QUANTUM_MS : QUANTUM_ALONE_MS
  }

  #forgetIdle(nowMs: number): void {
    for (const [name, { waiting, activeUntilMs }] of this.#parties)
      if (waiting.length === 0 && nowMs > activeUntilMs) this.#parties.delete(name)
  }

  #partyNamed(name: string): Party {
    const known = this.#parties.get(name)
    if (known) return known
    const party = { waiting: [], usedMs: 0, quantumMs: QUANTUM_MS, debtMs: 0, activeUntilMs: 0 }
    this.#parties.set(name, party)
    return party
  }
}

/** The clock of this process, and the event loop of its main thread. */
export const nodeClock: SchedulerClock = {
  nowMs: () => performance.now(),
  onNextRound: (callback) => void setImmediate(callback),
  // Node runs all microtasks before the next tick, so one that is asked for by a microtask comes after them.
  onSettled: (callback) => queueMicrotask(() => process.nextTick(callback)),
  after: (ms, callback) => void setTimeout(callback, ms),
}
