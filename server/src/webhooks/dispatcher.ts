import type { KeyObject } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Dispatcher as HttpDispatcher } from 'undici'
import {
  ATTEMPT_DELAYS_MS,
  FAILING_MAX_MS,
  nextDelayMs,
  parseRetryAfter,
  verdictOf,
} from '../core/webhooks/schedule.ts'
import type { NewId } from '../ids.ts'
import type { WebhookSecretBox } from '../security/webhook-secret.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { LeasedDelivery, SettledAttempt } from '../store/webhook-dispatch.ts'
import { AttemptLog } from './attempt-log.ts'
import { type AttemptResult, attemptDelivery, messageBody } from './deliver.ts'
import { disableEndpoint } from './endpoint-changes.ts'
import { readEndpointUrl, type UrlRules } from './endpoint-url.ts'

/** Attempts in flight on this node; well below the 1,024 files that many systems let a process open. */
const IN_FLIGHT: Bound = { inAll: 256, perEndpoint: 32, shareOfFree: 1 / 8 }
/** Deliveries that this node has leased: in flight, about to be, or about to be recorded. A reserve keeps the line busy. */
const HELD: Bound = { inAll: 4_096, perEndpoint: 1_024, shareOfFree: 1 / 4 }
const PAUSE_AFTER_FAILURE_MS = 5_000

/** How much there may be at once. An endpoint gets a part of what is free, so however many are slow, the others find room. */
interface Bound {
  inAll: number
  perEndpoint: number
  shareOfFree: number
}

function boundPerEndpoint({ inAll, perEndpoint, shareOfFree }: Bound, taken: number): number {
  return Math.max(1, Math.min(perEndpoint, Math.floor((inAll - taken) * shareOfFree)))
}

/** When things happen. */
export interface DispatcherTimings {
  delaysMs: readonly number[]
  timeoutMs: number
  /** Longer than an attempt takes, shorter than the 60 s after which a killed node's deliveries must go out again. */
  leaseSeconds: number
  pollEveryMs: number
  failingMaxMs: number
}

const TIMINGS: DispatcherTimings = {
  delaysMs: ATTEMPT_DELAYS_MS,
  timeoutMs: 15_000,
  leaseSeconds: 30,
  pollEveryMs: 250,
  failingMaxMs: FAILING_MAX_MS,
}

/** What a dispatcher works with. */
export interface DispatcherParts {
  rules: UrlRules
  store: EnvironmentStore
  secrets: WebhookSecretBox
  /** Made for this dispatcher, which closes it. */
  agentFor: (timeoutMs: number) => HttpDispatcher
  userAgent: string
  newId: NewId
  nowMs: () => number
  onError: (error: unknown) => void
  onDisabled: (endpoint: { org_id: string; id: string; why: string }) => void
  timings?: Partial<DispatcherTimings>
  /** Evenly from 0 up to 1. */
  chance?: () => number
}

/** A leased delivery, with the last moment at which an attempt still ends within its lease. */
type HeldDelivery = LeasedDelivery & { beginBeforeMs: number }

/** One endpoint's deliveries that this node has leased. */
interface Line {
  org_id: string
  endpoint_id: string
  waiting: HeldDelivery[]
  inFlight: number
  /** Waiting, in flight, or not yet on record. */
  held: number
}

/**
 * Sends events to their endpoints. Any number of nodes may do so at once: each takes due deliveries by lease, and the
 * deliveries of a node that dies are free again when its leases run out. At least once, in no promised order.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts
  readonly #timings: DispatcherTimings
  readonly #agent: HttpDispatcher
  readonly #log: AttemptLog
  readonly #lines = new Map<string, Line>()
  readonly #attempts = new Set<Promise<void>>()
  #inFlight = 0
  #held = 0
  #timer: NodeJS.Timeout | undefined
  #round: Promise<void> | undefined
  #askedAgain = false
  #pausedUntilMs = 0
  #closed = false

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#timings = { ...TIMINGS, ...parts.timings }
    this.#agent = parts.agentFor(this.#timings.timeoutMs)
    this.#log = new AttemptLog({
      store: parts.store,
      nowMs: parts.nowMs,
      failingMaxMs: this.#timings.failingMaxMs,
      onError: parts.onError,
      onFailing: async (endpoints) => {
        for (const { org_id, id, failing_since } of endpoints)
          await this.#disable(org_id, id, `nothing has been delivered since ${failing_since}`)
      },
    })
  }

  start(): void {
    this.#timer = setInterval(() => this.#wake(), this.#timings.pollEveryMs).unref()
  }

  /** Takes nothing new, gives back what has not begun, and lets what is in flight come to its end. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#round
    const waiting = [...this.#lines.values()].flatMap((line) => line.waiting.splice(0)).filter(this.#mayBegin)
    if (waiting.length > 0) await this.#parts.store.releaseDeliveries(waiting).catch(this.#parts.onError)
    while (this.#attempts.size > 0) await Promise.all(this.#attempts)
    await this.#agent.close()
  }

  /** Looks for due deliveries now; a look that is under way is followed by another. */
  #wake(): void {
    if (this.#closed || performance.now() < this.#pausedUntilMs) return
    this.#askedAgain = true
    this.#round ??= this.#runRounds().finally(() => {
      this.#round = undefined
    })
  }

  async #runRounds(): Promise<void> {
    try {
      while (this.#askedAgain && !this.#closed) {
        // Attempts that are recorded together ask together: one look answers them all.
        await setImmediate()
        this.#askedAgain = false
        if (this.#held < HELD.inAll) await this.#lease()
        for (const line of this.#lines.values()) this.#advance(line)
      }
    } catch (error) {
      this.#pausedUntilMs = performance.now() + PAUSE_AFTER_FAILURE_MS
      this.#parts.onError(error)
    }
  }

  async #lease(): Promise<void> {
    // Before the database's own reading of the clock, so that a lease is never thought to last longer than it does.
    const leasedAtMs = performance.now()
    const leased = await this.#parts.store.leaseDeliveries({
      now: this.#now(),
      leaseSeconds: this.#timings.leaseSeconds,
      limit: HELD.inAll - this.#held,
      perEndpoint: boundPerEndpoint(HELD, this.#held),
      held: [...this.#lines.values()],
    })
    const beginBeforeMs = leasedAtMs + this.#timings.leaseSeconds * 1_000 - this.#timings.timeoutMs
    for (const row of leased) {
      const { org_id, endpoint_id } = row
      const key = `${org_id} ${endpoint_id}`
      const line = this.#lines.get(key) ?? { org_id, endpoint_id, waiting: [], inFlight: 0, held: 0 }
      this.#lines.set(key, line)
      line.waiting.push({ ...row, beginBeforeMs })
      line.held += 1
      this.#held += 1
    }
  }

  /** Begins as many of an endpoint's attempts as there is room for. */
  #advance(line: Line): void {
    while (
      !this.#closed &&
      line.waiting.length > 0 &&
      this.#inFlight < IN_FLIGHT.inAll &&
      line.inFlight < boundPerEndpoint(IN_FLIGHT, this.#inFlight)
    ) {
      const delivery = line.waiting.shift()!
      // Another node may have it before this attempt would end. It comes back by itself when its lease has run out.
      if (!this.#mayBegin(delivery)) {
        this.#letGo(line)
        continue
      }
      const attempt = this.#deliver(delivery, line)
        .catch(this.#parts.onError)
        .finally(() => {
          this.#attempts.delete(attempt)
          this.#letGo(line)
          this.#wake()
        })
      this.#attempts.add(attempt)
    }
  }

  readonly #mayBegin = ({ beginBeforeMs }: HeldDelivery): boolean => performance.now() < beginBeforeMs

  #letGo(line: Line): void {
    line.held -= 1
    this.#held -= 1
    if (line.held === 0) this.#lines.delete(`${line.org_id} ${line.endpoint_id}`)
  }

  async #deliver(delivery: LeasedDelivery, line: Line): Promise<void> {
    line.inFlight += 1
    this.#inFlight += 1
    const startedMs = this.#parts.nowMs()
    const began = performance.now()
    const result = await this.#attempt(delivery).finally(() => {
      line.inFlight -= 1
      this.#inFlight -= 1
    })
    const durationMs = Math.round(performance.now() - began)
    this.#advance(line)
    await this.#log.record(this.#settlementOf(delivery, result, { startedMs, durationMs }))
    if (verdictOf(result.status) === 'gone')
      await this.#disable(delivery.org_id, delivery.endpoint_id, 'it answered 410 Gone')
  }

  async #attempt(delivery: LeasedDelivery): Promise<AttemptResult> {
    const { rules, userAgent, nowMs } = this.#parts
    const url = readEndpointUrl(delivery.url, rules)
    if ('problem' in url) return { error: `not sent: ${url.problem}` }
    const signingKeys = this.#signingKeys(delivery)
    if ('problem' in signingKeys) return { error: `not sent: ${signingKeys.problem}` }
    const body = messageBody(delivery, rules.environment)
    const parts = { agent: this.#agent, timeoutMs: this.#timings.timeoutMs, nowMs, userAgent }
    return attemptDelivery(parts, { url, id: delivery.event_id, body, signingKeys })
  }

  /** The keys that sign at this moment: the endpoint's, and the one before it while receivers may still hold that. */
  #signingKeys({
    org_id,
    endpoint_id: id,
    secret,
    previous_secret,
    previous_secret_until,
  }: LeasedDelivery): KeyObject[] | { problem: string } {
    const isCurrent = previous_secret !== null && previous_secret_until! > this.#now()
    try {
      return [secret, ...(isCurrent ? [previous_secret] : [])].map((stored) =>
        this.#parts.secrets.signingKey({ org_id, id }, stored),
      )
    } catch (error) {
      this.#parts.onError(error)
      return { problem: 'the signing secret cannot be read' }
    }
  }

  #settlementOf(
    delivery: LeasedDelivery,
    result: AttemptResult,
    { startedMs, durationMs }: { startedMs: number; durationMs: number },
  ): SettledAttempt {
    const { org_id, endpoint_id, event_id } = delivery
    const { chance = Math.random, nowMs } = this.#parts
    const attemptsMade = delivery.schedule_step + 1
    const delivered = verdictOf(result.status) === 'delivered'
    const retryAfterMs = result.status === undefined ? undefined : parseRetryAfter(result.retryAfter, nowMs())
    const wait = { delaysMs: this.#timings.delaysMs, attemptsMade, chance: chance(), retryAfterMs }
    const delayMs = delivered ? undefined : nextDelayMs(wait)
    return {
      org_id,
      endpoint_id,
      event_id,
      number: delivery.attempts + 1,
      started_at: new Date(startedMs).toISOString(),
      duration_ms: durationMs,
      status: result.status ?? null,
      error: result.error ?? null,
      response: result.status === undefined ? null : result.response,
      state: delivered ? 'delivered' : delayMs === undefined ? 'failed' : 'pending',
      schedule_step: attemptsMade,
      due_at: new Date(nowMs() + (delayMs ?? 0)).toISOString(),
    }
  }

  async #disable(organizationId: string, id: string, why: string): Promise<void> {
    const { store, newId, onDisabled } = this.#parts
    const endpoint = await store.webhookEndpoint(organizationId, id)
    if (endpoint?.state !== 'enabled') return
    const disabling = { actor: { type: 'system' as const, id: 'webhooks' }, why, now: this.#now() }
    if (await disableEndpoint({ store, newId }, endpoint, disabling)) onDisabled({ org_id: organizationId, id, why })
  }

  #now(): string {
    return new Date(this.#parts.nowMs()).toISOString()
  }
}
