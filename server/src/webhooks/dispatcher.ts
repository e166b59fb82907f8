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
import type { NewId } from '../ids/new-id.ts'
import type { WebhookSecretBox } from '../security/webhook-secret.ts'
import { DatabaseError } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type {
  FailingEndpoint,
  LeasedDelivery,
  SendingEndpoint,
  SettledAttempt,
} from '../store/environment/webhook-dispatch.ts'
import { AttemptLog } from './attempt-log.ts'
import { type Answer, attemptDelivery, describeError, messageBody, WITHDRAWN } from './deliver.ts'
import { EndpointCache } from './endpoint-cache.ts'
import { disableEndpoint } from './endpoint-changes.ts'
import { type EndpointUrl, readEndpointUrl, type UrlRules } from './endpoint-url.ts'
import { HeldDeliveries, type HeldDelivery, type PlannedLease } from './held-deliveries.ts'
import { settlementOf } from './settlement.ts'

const PAUSE_AFTER_FAILURE_MS = 5_000
const LEASE_TRIES_MAX = 5

/** The intervals and timeouts of a dispatcher. */
export interface DispatcherTimings {
  delaysMs: readonly number[]
  timeoutMs: number
  /** Longer than an attempt takes; below 60 s, within which deliveries of a killed node must go out again. */
  leaseSeconds: number
  /** How often to poll for deliveries that have become due, or that other nodes have queued. */
  pollEveryMs: number
  /** Delay of the poll after a commit of this node that queued deliveries, so that further commits share it. */
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

/** Callbacks for logs and metrics. */
export interface DispatcherEvents {
  onError: (error: unknown) => void
  onDisabled: (endpoint: { organizationId: string; endpointId: string; why: string }) => void
  onAttempt?: (attempt: { result: AttemptResult; durationMs: number }) => void
  /** Called with the number of leases that expired before the attempt started, or before its result was recorded. */
  onLeasesLost?: (count: number) => void
}

/** The dependencies of a dispatcher. */
export interface DispatcherParts extends DispatcherEvents {
  rules: UrlRules
  store: EnvironmentStore
  secrets: WebhookSecretBox
  /** Creates the HTTP agent, before the first attempt. The dispatcher destroys it when it closes. */
  agentFor: (timeoutMs: number) => Promise<HttpDispatcher>
  userAgent: string
  newId: NewId
  nowMs: () => number
  timings?: Partial<DispatcherTimings>
  /** Returns a number from 0 up to 1, uniformly distributed. */
  random?: () => number
}

/** A webhook endpoint to disable; with `failing_since`, only if it has been failing since then. */
type DisableTarget = Pick<FailingEndpoint, 'org_id' | 'id'> & Partial<FailingEndpoint>

/**
 * Sends events to webhook endpoints, at least once and in no promised order. Any number of nodes may run a dispatcher:
 * each leases due deliveries, and when a node dies its leases expire and the other nodes send its deliveries.
 *
 * The dispatcher is in one of these states:
 * - idle → polling: after `pollEveryMs`, after a commit of this node that queued deliveries, or when an attempt ends.
 * - polling: one poll finds the webhook endpoints with due deliveries, leases some of these, reads the webhook
 *   endpoints again, releases the deliveries of disabled ones, and starts attempts.
 *   → polling again, if there was another reason to poll in the meantime; → idle, if not; → paused, after an error.
 * - paused → idle: after five seconds without a poll, so that a database that is down is not queried all the time.
 * - draining (`close`): no polls and no new attempts; leases of waiting deliveries are released; attempts in flight end
 *   and their results are recorded. → closed, when none is left.
 * - closed: the HTTP agent is destroyed.
 *
 * A delivery is in one of these states, of which `pending`, `delivered` and `failed` are written to the database:
 * - pending → leased: when it is due, its webhook endpoint is enabled, and this node has a permit for it. The
 *   deliveries of a disabled webhook endpoint stay pending until it is enabled again.
 * - leased → in flight: when an attempt starts.
 *   → pending: when the lease is released or expires.
 * - in flight → delivered: the receiver answered 2xx.
 *   → pending, due after a delay: it answered otherwise or not at all, and the schedule has another attempt.
 *   → failed: that was the last attempt of the schedule.
 *   → leased: the webhook endpoint was changed before the request was sent, so nothing was sent.
 *   An answer of 410 also disables the webhook endpoint; so do five days without a successful attempt.
 * `HeldDeliveries` holds deliveries while they are leased or in flight.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts
  readonly #timings: DispatcherTimings
  readonly #log: AttemptLog
  readonly #endpoints: EndpointCache
  readonly #deliveries = new HeldDeliveries()
  readonly #attempts = new Set<Promise<void>>()
  readonly #urls = new WeakMap<SendingEndpoint, EndpointUrl>()
  #agent: Promise<HttpDispatcher> | undefined
  #pollTimer: NodeJS.Timeout | undefined
  #pollSoonTimer: NodeJS.Timeout | undefined
  #polling: Promise<void> | undefined
  #mustPollAgain = false
  #pausedUntilMs = 0
  #isClosing = false

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#timings = { ...TIMINGS, ...parts.timings }
    this.#endpoints = new EndpointCache(parts.store)
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
    this.#pollTimer = setInterval(() => this.#poll(), this.#timings.pollEveryMs).unref()
    this.#parts.store.onDeliveriesQueued(() => this.#pollSoon())
  }

  /** Stops leasing, releases the leases of waiting deliveries, and waits for the attempts in flight. */
  async close(): Promise<void> {
    this.#isClosing = true
    clearInterval(this.#pollTimer)
    clearTimeout(this.#pollSoonTimer)
    await this.#polling
    await this.#release(this.#deliveries.removeWaiting(() => true)).catch(this.#parts.onError)
    while (this.#attempts.size > 0) await Promise.all(this.#attempts)
    // Not `close`, which would wait for connections and name lookups that no attempt needs any more.
    await this.#agent?.then((agent) => agent.destroy())
  }

  /** Polls now, or once more after the poll that is running. */
  #poll(): void {
    if (this.#isClosing || performance.now() < this.#pausedUntilMs) return
    this.#mustPollAgain = true
    this.#polling ??= this.#pollUntilIdle().finally(() => {
      this.#polling = undefined
    })
  }

  #pollSoon(): void {
    if (this.#isClosing) return
    this.#pollSoonTimer ??= setTimeout(() => {
      this.#pollSoonTimer = undefined
      this.#poll()
    }, this.#timings.gatherMs).unref()
  }

  async #pollUntilIdle(): Promise<void> {
    try {
      while (this.#mustPollAgain && !this.#isClosing) {
        // Attempts that end in the same turn of the event loop share one poll.
        await setImmediate()
        this.#mustPollAgain = false
        await this.#pollOnce()
      }
    } catch (error) {
      this.#pausedUntilMs = performance.now() + PAUSE_AFTER_FAILURE_MS
      this.#parts.onError(error)
    }
  }

  async #pollOnce(): Promise<void> {
    await this.#lease(this.#deliveries.plan(await this.#parts.store.dispatch.endpointsWithDue(this.#now())))
    await this.#endpoints.refresh(this.#deliveries.endpoints())
    await this.#release(this.#deliveries.removeWaiting((endpoint) => this.#endpoints.isDisabled(endpoint)))
    this.#startAttempts()
  }

  async #lease(planned: readonly PlannedLease[]): Promise<void> {
    let leased: LeasedDelivery[] = []
    let leasedAtMs = 0
    try {
      for (let tries = 1; planned.length > 0; tries++) {
        // Read before the database reads its clock, so that the lease never ends earlier than this node assumes.
        leasedAtMs = performance.now()
        const request = { now: this.#now(), leaseSeconds: this.#timings.leaseSeconds, wanted: planned }
        const result = await this.#parts.store.dispatch.lease(request).catch((error) => {
          if (tries < LEASE_TRIES_MAX && error instanceof DatabaseError && error.isTransient) return undefined
          throw error
        })
        if (!result) continue
        leased = result.leased
        // Another node leased some of the deliveries that were found; the ones behind them may be free.
        if (leased.length < result.found) this.#mustPollAgain = true
        return
      }
    } finally {
      const startBeforeMs = leasedAtMs + this.#timings.leaseSeconds * 1_000 - this.#timings.timeoutMs
      this.#deliveries.add(planned, leased, startBeforeMs)
    }
  }

  /** Starts as many attempts as the limits allow, to webhook endpoints that were enabled a moment ago. */
  #startAttempts(): void {
    if (this.#isClosing) return
    let isStale = false
    const late = this.#deliveries.start(
      (endpoint) => {
        const isFresh = this.#endpoints.isFresh(endpoint)
        if (!isFresh) isStale = true
        return isFresh && !this.#endpoints.isDisabled(endpoint)
      },
      (delivery) => {
        const attempt = this.#deliver(delivery, this.#endpoints.enabled(delivery)!)
          .catch(this.#parts.onError)
          .finally(() => {
            this.#attempts.delete(attempt)
            this.#poll()
          })
        this.#attempts.add(attempt)
      },
    )
    if (late > 0) this.#parts.onLeasesLost?.(late)
    if (isStale) this.#poll()
  }

  async #deliver(delivery: HeldDelivery, endpoint: SendingEndpoint): Promise<void> {
    const startedMs = this.#parts.nowMs()
    const began = performance.now()
    const answer = await this.#attempt(delivery, endpoint, startedMs).catch((error) => this.#internalError(error))
    const durationMs = Math.round(performance.now() - began)
    this.#deliveries.end(delivery)
    if (answer === WITHDRAWN) {
      this.#deliveries.putBack(delivery)
      if (this.#isClosing) await this.#release(this.#deliveries.removeWaiting(() => true))
      return
    }
    const result = attemptResultOf(answer.status)
    try {
      this.#startAttempts()
      this.#parts.onAttempt?.({ result, durationMs })
      await this.#log.record(this.#settlementOf(delivery, answer, { startedMs, durationMs }))
    } finally {
      this.#deliveries.remove(delivery)
    }
    if (result === 'gone')
      await this.#disable({ org_id: delivery.org_id, id: delivery.endpoint_id }, 'it answered 410 Gone')
  }

  async #attempt(
    delivery: HeldDelivery,
    endpoint: SendingEndpoint,
    startedMs: number,
  ): Promise<Answer | typeof WITHDRAWN> {
    const { rules, userAgent } = this.#parts
    const read = this.#urlOf(endpoint)
    if ('fault' in read) return { error: `not sent: the URL ${read.fault}` }
    const { url } = read
    const signingKeys = this.#signingKeys(endpoint)
    if ('fault' in signingKeys) return { error: `not sent: the signing secret ${signingKeys.fault}` }
    const body = messageBody(delivery, rules.environment)
    const parts = { agent: await this.#getAgent(), timeoutMs: this.#timings.timeoutMs, userAgent }
    const maySend = () => this.#endpoints.enabled(delivery)?.version === endpoint.version
    return attemptDelivery(parts, { url, id: delivery.event_id, body, startedMs, signingKeys, maySend })
  }

  /** Returns the agent that all attempts share. If it could not be created, the next attempt tries again. */
  #getAgent(): Promise<HttpDispatcher> {
    if (this.#agent) return this.#agent
    const agent = this.#parts.agentFor(this.#timings.timeoutMs)
    this.#agent = agent
    agent.catch(() => {
      this.#agent = undefined
    })
    return agent
  }

  /** Decrypts and parses the URL once for each time that the webhook endpoint is read; every connection checks the address again. */
  #urlOf(endpoint: SendingEndpoint): EndpointUrl {
    const known = this.#urls.get(endpoint)
    if (known) return known
    const url = this.#readUrl(endpoint)
    this.#urls.set(endpoint, url)
    return url
  }

  #readUrl({ org_id: organizationId, id: endpointId, url }: SendingEndpoint): EndpointUrl {
    const { secrets, rules, onError } = this.#parts
    try {
      return readEndpointUrl(secrets.decryptUrl({ organizationId, endpointId }, url), rules)
    } catch (error) {
      onError(error)
      return { fault: 'cannot be decrypted' }
    }
  }

  /** Returns the keys that sign now: the current one, and the previous one while the rotation overlap lasts. */
  #signingKeys({
    org_id: organizationId,
    id: endpointId,
    secret,
    previous_secret,
    previous_secret_until,
  }: SendingEndpoint): KeyObject[] | { fault: string } {
    const isOverlap = previous_secret !== null && previous_secret_until! > this.#now()
    try {
      return [secret, ...(isOverlap ? [previous_secret] : [])].map((stored) =>
        this.#parts.secrets.signingKey({ organizationId, endpointId }, stored),
      )
    } catch (error) {
      this.#parts.onError(error)
      return { fault: 'cannot be decrypted' }
    }
  }

  /** Never throws: an attempt that is not recorded would be made again for ever. */
  #settlementOf(
    delivery: LeasedDelivery,
    answer: Answer,
    timing: { startedMs: number; durationMs: number },
  ): SettledAttempt {
    const { random = Math.random, nowMs } = this.#parts
    const parts = { ...timing, delaysMs: this.#timings.delaysMs, nowMs }
    try {
      return settlementOf(delivery, answer, { ...parts, random })
    } catch (error) {
      return settlementOf(delivery, this.#internalError(error), { ...parts, random: () => 0.5 })
    }
  }

  #internalError(error: unknown): Answer {
    this.#parts.onError(error)
    return { error: `internal error of the sender: ${describeError(error as Error)}` }
  }

  async #release(deliveries: readonly HeldDelivery[]): Promise<void> {
    if (deliveries.length > 0) await this.#parts.store.dispatch.release(deliveries)
  }

  async #disable({ org_id, id, failing_since }: DisableTarget, why: string): Promise<void> {
    const { store, newId, onDisabled } = this.#parts
    const endpoint = await store.webhooks.endpoint(org_id, id)
    if (endpoint?.state !== 'enabled') return
    if (failing_since !== undefined && endpoint.failing_since !== failing_since) return
    const disabling = { actor: { type: 'system' as const, id: 'webhooks' }, why, now: this.#now() }
    if (await disableEndpoint({ store, newId }, endpoint, disabling))
      onDisabled({ organizationId: org_id, endpointId: id, why })
  }

  #now(): string {
    return new Date(this.#parts.nowMs()).toISOString()
  }
}
