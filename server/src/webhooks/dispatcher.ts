import type { KeyObject } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Dispatcher as HttpDispatcher } from 'undici'
import {
  ATTEMPT_DELAYS_MS,
  type AttemptResult,
  attemptResultOf,
  FAILING_MAX_MS,
  QUIET_MAX_MS,
} from '../core/webhooks/schedule.ts'
import type { NewId } from '../ids/ids.ts'
import type { WebhookSecretBox } from '../security/webhook-secret.ts'
import { DatabaseError } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type {
  FailingEndpoint,
  LeasedDelivery,
  SendingEndpoint,
  SettledAttempt,
} from '../store/queries/webhook-dispatch.ts'
import { AttemptLog } from './attempt-log.ts'
import { type Answer, attemptDelivery, describeError, messageBody, WITHDRAWN } from './deliver.ts'
import { disableEndpoint } from './endpoint-changes.ts'
import { readEndpointUrl, type UrlRules } from './endpoint-url.ts'
import { EndpointWatch } from './endpoint-watch.ts'
import { HeldDeliveries, type HeldDelivery, type PlannedLease } from './held-deliveries.ts'
import { settlementOf } from './settlement.ts'

const PAUSE_AFTER_FAILURE_MS = 5_000
const LEASE_TRIES_MAX = 5

/** When things happen. */
export interface DispatcherTimings {
  delaysMs: readonly number[]
  timeoutMs: number
  /** Longer than an attempt takes, shorter than the 60 s after which a killed node's deliveries must go out again. */
  leaseSeconds: number
  /** How often to look for what has become due, and for what other nodes have written. */
  pollEveryMs: number
  /** After a commit of this node that put deliveries on their way: long enough for others to join the same look. */
  gatherMs: number
  failingMaxMs: number
}

const TIMINGS: DispatcherTimings = {
  delaysMs: ATTEMPT_DELAYS_MS,
  timeoutMs: 15_000,
  leaseSeconds: 30,
  pollEveryMs: 250,
  gatherMs: 5,
  failingMaxMs: FAILING_MAX_MS,
}

/** What a dispatcher tells of its work. */
export interface DispatcherEvents {
  onError: (error: unknown) => void
  onDisabled: (endpoint: { org_id: string; id: string; why: string }) => void
  onAttempt?: (attempt: { result: AttemptResult; durationMs: number }) => void
  /** Leases that ran out before the delivery was begun, or before its attempt was on record. */
  onLeasesLost?: (count: number) => void
}

/** What a dispatcher works with. */
export interface DispatcherParts extends DispatcherEvents {
  rules: UrlRules
  store: EnvironmentStore
  secrets: WebhookSecretBox
  /** Made for this dispatcher when it has something to send, and closed by it. */
  agentFor: (timeoutMs: number) => Promise<HttpDispatcher>
  userAgent: string
  newId: NewId
  nowMs: () => number
  timings?: Partial<DispatcherTimings>
  /** Evenly from 0 up to 1. */
  chance?: () => number
}

/** An endpoint that is to be disabled. */
type Target = Pick<FailingEndpoint, 'org_id' | 'id'> & Partial<FailingEndpoint>

/**
 * Sends events to their endpoints. Any number of nodes may do so at once: each takes due deliveries by lease, and the
 * deliveries of a node that dies are free again when its leases run out. At least once, in no promised order.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts
  readonly #timings: DispatcherTimings
  readonly #log: AttemptLog
  readonly #watch: EndpointWatch
  readonly #deliveries = new HeldDeliveries()
  readonly #attempts = new Set<Promise<void>>()
  readonly #urls = new WeakMap<SendingEndpoint, ReturnType<typeof readEndpointUrl>>()
  #agent: Promise<HttpDispatcher> | undefined
  #timer: NodeJS.Timeout | undefined
  #soon: NodeJS.Timeout | undefined
  #round: Promise<void> | undefined
  #askedAgain = false
  #pausedUntilMs = 0
  #closed = false

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#timings = { ...TIMINGS, ...parts.timings }
    this.#watch = new EndpointWatch(parts.store)
    this.#log = new AttemptLog({
      store: parts.store,
      nowMs: parts.nowMs,
      failingMaxMs: this.#timings.failingMaxMs,
      quietMaxMs: QUIET_MAX_MS,
      onError: parts.onError,
      onLost: (count) => parts.onLeasesLost?.(count),
      onFailing: async (endpoints) => {
        for (const endpoint of endpoints)
          await this.#disable(endpoint, `nothing has been delivered since ${endpoint.failing_since}`)
      },
    })
  }

  /** Deliveries that this node has leased. */
  get held(): number {
    return this.#deliveries.held
  }

  /** Attempts that are being made. */
  get inFlight(): number {
    return this.#deliveries.inFlight
  }

  start(): void {
    this.#timer = setInterval(() => this.#wake(), this.#timings.pollEveryMs).unref()
    this.#parts.store.onDeliveriesQueued(() => this.#wakeSoon())
  }

  /** Takes nothing new, gives back what has not begun, and lets what is in flight come to its end. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    clearTimeout(this.#soon)
    await this.#round
    await this.#giveBack(this.#deliveries.removeWaiting(() => true)).catch(this.#parts.onError)
    while (this.#attempts.size > 0) await Promise.all(this.#attempts)
    // Nobody waits for an answer any more: not for connections either, nor for lookups.
    await this.#agent?.then((agent) => agent.destroy())
  }

  /** Looks for due deliveries now; a look that is under way is followed by another. */
  #wake(): void {
    if (this.#closed || performance.now() < this.#pausedUntilMs) return
    this.#askedAgain = true
    this.#round ??= this.#runRounds().finally(() => {
      this.#round = undefined
    })
  }

  #wakeSoon(): void {
    if (this.#closed) return
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      this.#wake()
    }, this.#timings.gatherMs).unref()
  }

  async #runRounds(): Promise<void> {
    try {
      while (this.#askedAgain && !this.#closed) {
        // Attempts that end together ask together: one look answers them all.
        await setImmediate()
        this.#askedAgain = false
        await this.#runRound()
      }
    } catch (error) {
      this.#pausedUntilMs = performance.now() + PAUSE_AFTER_FAILURE_MS
      this.#parts.onError(error)
    }
  }

  async #runRound(): Promise<void> {
    const wanted = this.#deliveries.plan(await this.#parts.store.endpointsWithDue(this.#now()))
    await this.#lease(wanted)
    await this.#watch.read(this.#deliveries.endpoints())
    await this.#giveBack(this.#deliveries.removeWaiting((endpoint) => this.#watch.isClosed(endpoint)))
    this.#begin()
  }

  async #lease(wanted: readonly PlannedLease[]): Promise<void> {
    let leased: LeasedDelivery[] = []
    let leasedAtMs = 0
    try {
      for (let tries = 1; wanted.length > 0; tries++) {
        // Before the database's own reading of the clock, so that a lease is never thought to last longer than it does.
        leasedAtMs = performance.now()
        const request = { now: this.#now(), leaseSeconds: this.#timings.leaseSeconds, wanted }
        const result = await this.#parts.store.leaseDeliveries(request).catch((error) => {
          if (tries < LEASE_TRIES_MAX && error instanceof DatabaseError && error.isTransient) return undefined
          throw error
        })
        if (!result) continue
        leased = result.leased
        // Another node was faster; what comes after that may be free.
        if (leased.length < result.found) this.#askedAgain = true
        return
      }
    } finally {
      const startBeforeMs = leasedAtMs + this.#timings.leaseSeconds * 1_000 - this.#timings.timeoutMs
      this.#deliveries.add(wanted, leased, startBeforeMs)
    }
  }

  /** Begins what there is room for and what is known to be still wanted. */
  #begin(): void {
    if (this.#closed) return
    let isStale = false
    const late = this.#deliveries.start(
      (endpoint) => {
        const isFresh = this.#watch.isFresh(endpoint)
        if (!isFresh) isStale = true
        return isFresh && !this.#watch.isClosed(endpoint)
      },
      (delivery) => {
        const attempt = this.#deliver(delivery, this.#watch.enabled(delivery)!)
          .catch(this.#parts.onError)
          .finally(() => {
            this.#attempts.delete(attempt)
            this.#wake()
          })
        this.#attempts.add(attempt)
      },
    )
    if (late > 0) this.#parts.onLeasesLost?.(late)
    if (isStale) this.#wake()
  }

  async #deliver(delivery: HeldDelivery, endpoint: SendingEndpoint): Promise<void> {
    const startedMs = this.#parts.nowMs()
    const began = performance.now()
    const answer = await this.#attempt(delivery, endpoint).catch((error) => this.#ownFault(error))
    const durationMs = Math.round(performance.now() - began)
    this.#deliveries.end(delivery)
    if (answer === WITHDRAWN) {
      this.#deliveries.putBack(delivery)
      if (this.#closed) await this.#giveBack(this.#deliveries.removeWaiting(() => true))
      return
    }
    const result = attemptResultOf(answer.status)
    try {
      this.#begin()
      this.#parts.onAttempt?.({ result, durationMs })
      await this.#log.record(this.#settlementOf(delivery, answer, { startedMs, durationMs }))
    } finally {
      this.#deliveries.remove(delivery)
    }
    if (result === 'gone')
      await this.#disable({ org_id: delivery.org_id, id: delivery.endpoint_id }, 'it answered 410 Gone')
  }

  async #attempt(delivery: HeldDelivery, endpoint: SendingEndpoint): Promise<Answer | typeof WITHDRAWN> {
    const { rules, userAgent, nowMs } = this.#parts
    const url = this.#urlOf(endpoint)
    if ('problem' in url) return { error: `not sent: ${url.problem}` }
    const signingKeys = this.#signingKeys(endpoint)
    if ('problem' in signingKeys) return { error: `not sent: ${signingKeys.problem}` }
    const body = messageBody(delivery, rules.environment)
    const parts = { agent: await this.#getAgent(), timeoutMs: this.#timings.timeoutMs, nowMs, userAgent }
    const mayGo = () => this.#watch.enabled(delivery)?.version === endpoint.version
    return attemptDelivery(parts, { url, id: delivery.event_id, body, signingKeys, mayGo })
  }

  /** One for all attempts; one that could not be made is asked for again. */
  #getAgent(): Promise<HttpDispatcher> {
    if (this.#agent) return this.#agent
    const agent = this.#parts.agentFor(this.#timings.timeoutMs)
    this.#agent = agent
    agent.catch(() => {
      this.#agent = undefined
    })
    return agent
  }

  /** Read once for what was read of an endpoint at once; the address behind it is checked with every connection. */
  #urlOf(endpoint: SendingEndpoint): ReturnType<typeof readEndpointUrl> {
    const known = this.#urls.get(endpoint)
    if (known) return known
    const url = readEndpointUrl(endpoint.url, this.#parts.rules)
    this.#urls.set(endpoint, url)
    return url
  }

  /** The keys that sign at this moment: the endpoint's, and the one before it while receivers may still hold that. */
  #signingKeys({
    org_id,
    id,
    secret,
    previous_secret,
    previous_secret_until,
  }: SendingEndpoint): KeyObject[] | { problem: string } {
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

  /** Whatever an answer holds, the attempt was made and goes on record: one that is not would be made for ever. */
  #settlementOf(
    delivery: LeasedDelivery,
    answer: Answer,
    timing: { startedMs: number; durationMs: number },
  ): SettledAttempt {
    const { chance = Math.random, nowMs } = this.#parts
    const parts = { ...timing, delaysMs: this.#timings.delaysMs, nowMs }
    try {
      return settlementOf(delivery, answer, { ...parts, chance })
    } catch (error) {
      return settlementOf(delivery, this.#ownFault(error), { ...parts, chance: () => 0.5 })
    }
  }

  #ownFault(error: unknown): Answer {
    this.#parts.onError(error)
    return { error: `a fault of the sender: ${describeError(error as Error)}` }
  }

  async #giveBack(deliveries: readonly HeldDelivery[]): Promise<void> {
    if (deliveries.length > 0) await this.#parts.store.releaseDeliveries(deliveries)
  }

  /** Disables an endpoint; one that is said to have failed since some moment only if that still holds. */
  async #disable({ org_id, id, failing_since }: Target, why: string): Promise<void> {
    const { store, newId, onDisabled } = this.#parts
    const endpoint = await store.webhookEndpoint(org_id, id)
    if (endpoint?.state !== 'enabled') return
    if (failing_since !== undefined && endpoint.failing_since !== failing_since) return
    const disabling = { actor: { type: 'system' as const, id: 'webhooks' }, why, now: this.#now() }
    if (await disableEndpoint({ store, newId }, endpoint, disabling)) onDisabled({ org_id, id, why })
  }

  #now(): string {
    return new Date(this.#parts.nowMs()).toISOString()
  }
}
