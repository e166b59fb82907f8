import { attemptResultOf, nextDelayMs, parseRetryAfter } from '../core/webhooks/schedule.ts'
import type { LeasedDelivery, SettledAttempt } from '../store/environment/webhook-dispatch.ts'
import type { Answer } from './deliver.ts'

/** The inputs of a settlement besides the delivery and the answer. */
export interface SettlementParts {
  delaysMs: readonly number[]
  nowMs: () => number
  /** Returns a number from 0 up to 1, uniformly distributed. */
  random: () => number
}

/** Derives the next state of a delivery from one attempt: delivered, pending until the next attempt, or failed. */
export function settlementOf(
  delivery: LeasedDelivery,
  answer: Answer,
  { startedMs, durationMs, delaysMs, nowMs, random }: SettlementParts & { startedMs: number; durationMs: number },
): SettledAttempt {
  const { org_id, endpoint_id, event_id, cycle } = delivery
  const attemptsMade = delivery.schedule_step + 1
  const isDelivered = attemptResultOf(answer.status) === 'delivered'
  const retryAfterMs = answer.status === undefined ? undefined : parseRetryAfter(answer.retryAfter, nowMs())
  const delayMs = isDelivered ? undefined : nextDelayMs({ delaysMs, attemptsMade, random: random(), retryAfterMs })
  return {
    org_id,
    endpoint_id,
    event_id,
    cycle,
    number: delivery.attempts + 1,
    started_at: new Date(startedMs).toISOString(),
    duration_ms: durationMs,
    status: answer.status ?? null,
    error: answer.error ?? null,
    response: answer.status === undefined ? null : answer.response,
    signature: answer.sent?.signature ?? null,
    user_agent: answer.sent?.userAgent ?? null,
    state: isDelivered ? 'delivered' : delayMs === undefined ? 'failed' : 'pending',
    schedule_step: attemptsMade,
    due_at: new Date(nowMs() + (delayMs ?? 0)).toISOString(),
  }
}
