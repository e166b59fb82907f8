import type { Static } from 'typebox'
import { VERDICTS } from '../../core/vocabularies.ts'
import { BODY_BYTES_MAX } from '../../http/json-body.ts'
import type { Violation } from '../../http/violation.ts'
import { USAGE_COUNTERS, type UsageCount } from '../../store/environment/usage.ts'
import { failValidation } from '../api-error.ts'
import { defineEndpoint } from '../define-endpoint.ts'
import { TRANSACTIONS_PER_BATCH_MAX } from '../schemas/transaction.ts'
import { UsageQuery, UsageSummary } from '../schemas/usage.ts'

/** Returns the usage of an organization in a period, by day and in total. */
export const retrieveUsage = defineEndpoint({
  operationId: 'retrieveUsage',
  summary: 'Usage summary',
  description:
    'By day, in UTC. Entities, transactions and decisions are counted as soon as they are written; requests and errors within a second. Days are kept for three years, or as long as `USAGE_KEEP_DAYS` of the service says; earlier ones count as without usage.',
  tag: 'Usage',
  method: 'GET',
  path: '/v1/usage',
  scope: 'usage:read',
  query: UsageQuery,
  succeeds: { 200: UsageSummary },
  fails: ['validation_failed'],

  async handle({ query, caller, environment, store, now, rateLimit }) {
    const start = query.from ?? `${now.slice(0, 7)}-01`
    const end = query.to ?? now.slice(0, 10)
    if (start > end) return failValidation([wrongPeriod(query, { start, end })])

    const counts = await store.usage.byDay(caller.organizationId, start, end)
    const days = [...new Set(counts.map(({ day }) => day))]
    return {
      status: 200,
      body: {
        object: 'usage_summary',
        environment,
        period: { start, end },
        totals: totalsOf(counts),
        decisions_by_verdict: sums(counts, VERDICTS, (verdict) => `verdict.${verdict}`),
        by_day: days.map((date) => ({ date, ...totalsOf(counts.filter(({ day }) => day === date)) })),
        limits: {
          requests_per_second: rateLimit.perSecond,
          request_burst: rateLimit.burst,
          body_bytes_max: BODY_BYTES_MAX,
          transactions_per_batch_max: TRANSACTIONS_PER_BATCH_MAX,
        },
      },
    }
  },
})

/** Says which end of the period to correct: a default cannot be wrong, so it is the end that was sent. */
function wrongPeriod(query: Static<typeof UsageQuery>, { start, end }: { start: string; end: string }): Violation {
  if (query.from === undefined) {
    const message = `to (${end}) is before ${start}, the first day of this month, which is the default of from. Send from as well.`
    return { param: 'to', message }
  }
  if (query.to === undefined)
    return { param: 'from', message: `from (${start}) is after today (${end}), which is the default of to.` }
  return { param: 'from', message: `from (${start}) is after to (${end}). Exchange them.` }
}

function totalsOf(counts: readonly UsageCount[]): UsageSummary['totals'] {
  return sums(counts, USAGE_COUNTERS, (name) => name)
}

function sums<const N extends string>(
  counts: readonly UsageCount[],
  names: readonly N[],
  counterOf: (name: N) => string,
): Record<N, number> {
  const entries = names.map((name) => [name, sumOf(counts, counterOf(name))] as const)
  return Object.fromEntries(entries) as Record<N, number>
}

function sumOf(counts: readonly UsageCount[], counter: string): number {
  return counts.filter((count) => count.counter === counter).reduce((sum, { count }) => sum + count, 0)
}
