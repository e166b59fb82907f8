import type { Dispatcher as HttpDispatcher } from 'undici'
import {
  ATTEMPT_DELAYS_MS,
  FAILING_MAX_MS,
  nextDelayMs,
  parseRetryAfter,
  verdictOf,
} from '../core/webhooks/schedule.ts'
import type { NewId } from '../ids.ts'
import { type WebhookSecretBox, webhookSigningKey } from '../security/webhook-secret.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { LeasedDelivery, SettledAttempt } from '../store/webhook-dispatch.ts'
import { AttemptLog } from './attempt-log.ts'
import { type AttemptResult, attemptDelivery, messageBody } from './deliver.ts'
import { disableEndpoint } from './endpoint-changes.ts'
import { readEndpointUrl, type UrlRules } from './endpoint-url.ts'

/** Attempts in flight on this node; well below the 1,024 files that many systems let a process open. */
const IN_FLIGHT_MAX = 256
const PER_ENDPOINT_MAX = 32
/** One endpoint may take this part of what is free, so slow ones leave room for the others however many they are. */
const SHARE_OF_FREE = 1 / 8
const PAUSE_AFTER_FAILURE_MS = 5_000

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

/**
 * Sends events to their endpoints. Any number of nodes may do so at once: each takes due deliveries by lease, and the
 * deliveries of a node that dies are free again when its leases run out. At least once, in no promised order.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts
  readonly #timings: DispatcherTimings
  readonly #agent: HttpDispatcher
  readonly #log: AttemptLog
  readonly #inFlight = new Map<string, { org_id: string; endpoint_id: string; count: number }>()
  readonly #attempts = new Set<Promise<void>>()
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

  /** Takes nothing new, and lets what is in flight come to its end. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#round
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
        this.#askedAgain = false
        const free = IN_FLIGHT_MAX - this.#attempts.size
        if (free === 0) return
        const leased = await this.#parts.store.leaseDeliveries({
          now: this.#now(),
          leaseSeconds: this.#timings.leaseSeconds,
          limit: free,
          perEndpoint: Math.max(1, Math.min(PER_ENDPOINT_MAX, Math.floor(free * SHARE_OF_FREE))),
          inFlight: [...this.#inFlight.values()],
        })
        for (const delivery of leased) this.#begin(delivery)
      }
    } catch (error) {
      this.#pausedUntilMs = performance.now() + PAUSE_AFTER_FAILURE_MS
      this.#parts.onError(error)
    }
  }

  #begin(delivery: LeasedDelivery): void {
    const { org_id, endpoint_id } = delivery
    const key = `${org_id} ${endpoint_id}`
    const busy = this.#inFlight.get(key) ?? { org_id, endpoint_id, count: 0 }
    this.#inFlight.set(key, busy)
    busy.count += 1
    const attempt = this.#deliver(delivery)
      .catch(this.#parts.onError)
      .finally(() => {
        busy.count -= 1
        if (busy.count === 0) this.#inFlight.delete(key)
        this.#attempts.delete(attempt)
        this.#wake()
      })
    this.#attempts.add(attempt)
  }

  async #deliver(delivery: LeasedDelivery): Promise<void> {
    const startedMs = this.#parts.nowMs()
    const began = performance.now()
    const result = await this.#attempt(delivery)
    const durationMs = Math.round(performance.now() - began)
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
  }: LeasedDelivery): Buffer[] | { problem: string } {
    const isCurrent = previous_secret !== null && previous_secret_until! > this.#now()
    try {
      return [secret, ...(isCurrent ? [previous_secret] : [])].map((stored) =>
        webhookSigningKey(this.#parts.secrets.open({ org_id, id }, stored)),
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
