import { attemptResultOf, nextDelayMs, parseRetryAfter } from '../core/webhooks/schedule.ts'
import type { LeasedDelivery, SettledAttempt } from '../store/queries/webhook-dispatch.ts'
import type { Answer } from './deliver.ts'

/** What the fate of a delivery depends on besides the answer. */
export interface SettlementParts {
  delaysMs: readonly number[]
  nowMs: () => number
  /** Evenly from 0 up to 1. */
  chance: () => number
}

/** What an attempt means for its delivery: it is over, or there is a next attempt. */
export function settlementOf(
  delivery: LeasedDelivery,
  answer: Answer,
  { startedMs, durationMs, delaysMs, nowMs, chance }: SettlementParts & { startedMs: number; durationMs: number },
): SettledAttempt {
  const { org_id, endpoint_id, event_id, round } = delivery
  const attemptsMade = delivery.schedule_step + 1
  const delivered = attemptResultOf(answer.status) === 'delivered'
  const delayMs = delivered
    ? undefined
    : nextDelayMs({ delaysMs, attemptsMade, chance: chance(), retryAfterMs: wish() })
  return {
    org_id,
    endpoint_id,
    event_id,
    round,
    number: delivery.attempts + 1,
    started_at: new Date(startedMs).toISOString(),
    duration_ms: durationMs,
    status: answer.status ?? null,
    error: answer.error ?? null,
    response: answer.status === undefined ? null : answer.response,
    state: delivered ? 'delivered' : delayMs === undefined ? 'failed' : 'pending',
    schedule_step: attemptsMade,
    due_at: new Date(nowMs() + (delayMs ?? 0)).toISOString(),
  }

  function wish(): number | undefined {
    return answer.status === undefined ? undefined : parseRetryAfter(answer.retryAfter, nowMs())
  }
}
