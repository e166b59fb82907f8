import { invalid } from '../../admin/problem.ts'
import { TRANSACTIONS_PER_BATCH_MAX } from '../../api/schemas/transaction.ts'
import { Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { VERDICTS } from '../../core/vocabularies.ts'
import { BODY_BYTES_MAX } from '../../http/json-body.ts'
import type { UsageCount } from '../../store/environment/usage.ts'
import { defineOperation } from '../define-operation.ts'

const DAY_MS = 24 * 3_600_000
const DAYS_MAX = 366
/** From the year 1000 on: PostgreSQL has no year 0. */
const Day = Type.String({ format: 'date', minLength: 10, maxLength: 10, pattern: '^[1-9]\\d{3}-\\d{2}-\\d{2}$' })

/** What was used on one day. Counts of one API key have neither entities, deliveries nor verdicts. */
interface UsageOfDay {
  day: string
  requests: number
  errors: number
  decisions: number
  transactions: number
}

const COUNTERS = ['requests', 'errors', 'decisions', 'transactions'] as const

/** Reads the usage of an organization by day and by API key. */
const readUsage = defineOperation({
  summary: 'Requests, errors, decisions and transactions by day and by API key, and the limits',
  access: 'see the console',
  input: Strict({ from: Day, to: Day, key: Type.Optional(Type.String({ maxLength: 64 })) }),
  audit: [],
  async handle({ input: { from, to, key }, organizationId, store, installation }) {
    const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
    if (!(days >= 1)) throw invalid('period_reversed', `The last day (${to}) is before the first (${from}).`)
    if (days > DAYS_MAX) throw invalid('period_too_long', `A period has at most ${DAYS_MAX} days.`)
    const keys = await store.apiKeys.list(organizationId)
    const usage = await store.usage.byDay(organizationId, from, to)
    const ofKeys = await store.usage.ofKeys(organizationId, from, to)
    const byDay = key ? await store.usage.ofKeyByDay({ organizationId, keyId: key }, from, to) : daysOf(usage)
    const keptMs = installation.config.keepDays.usage * DAY_MS
    return {
      /** The first day whose usage is not deleted yet. */
      kept_since: new Date(installation.nowMs() - keptMs).toISOString().slice(0, 10),
      by_day: everyDay(from, days, byDay),
      by_key: ofKeys.map(({ key_id, ...counts }) => {
        const known = keys.find(({ id }) => id === key_id)
        return {
          id: key_id,
          name: known?.name ?? null,
          last_four: known?.last_four ?? null,
          is_revoked: known?.revoked_at != null,
          ...counts,
        }
      }),
      verdicts: Object.fromEntries(VERDICTS.map((verdict) => [verdict, total(usage, `verdict.${verdict}`)])) as Record<
        (typeof VERDICTS)[number],
        number
      >,
      entities: total(usage, 'entities'),
      webhook_deliveries: total(usage, 'webhook_deliveries'),
      rate_limited: total(usage, 'rate_limited'),
      limits: {
        requests_per_second: installation.config.rateLimit.perSecond,
        request_burst: installation.config.rateLimit.burst,
        body_bytes_max: BODY_BYTES_MAX,
        transactions_per_batch_max: TRANSACTIONS_PER_BATCH_MAX,
      },
    }
  },
})

function daysOf(usage: readonly UsageCount[]): UsageOfDay[] {
  return [...Map.groupBy(usage, ({ day }) => day)].map(([day, counts]) => ({
    day,
    ...(Object.fromEntries(COUNTERS.map((counter) => [counter, total(counts, counter)])) as Omit<UsageOfDay, 'day'>),
  }))
}

/** Every day of the period, also those without a request. */
function everyDay(from: string, days: number, counted: readonly UsageOfDay[]): UsageOfDay[] {
  const byDay = new Map(counted.map((usage) => [usage.day, usage]))
  return Array.from({ length: days }, (_, index) => {
    const day = new Date(Date.parse(from) + index * DAY_MS).toISOString().slice(0, 10)
    return byDay.get(day) ?? { day, requests: 0, errors: 0, decisions: 0, transactions: 0 }
  })
}

function total(usage: readonly UsageCount[], name: string): number {
  return usage.filter(({ counter }) => counter === name).reduce((sum, { count }) => sum + count, 0)
}

/** The operations `usage.<verb>`. */
export const usage = {
  show: readUsage,
}
