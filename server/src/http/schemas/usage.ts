import type { Static } from 'typebox'
import { OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import type { Verdict } from '../../core/vocabularies.ts'
import { ENVIRONMENTS } from '../../core/vocabularies.ts'

const Day = (description: string) => Type.String({ format: 'date', description, examples: ['2026-11-01'] })
const Count = Type.Integer({ minimum: 0 })

const totals = {
  requests: Count,
  errors: Count,
  decisions: Count,
  entities: Count,
  transactions: Count,
  webhook_deliveries: Count,
}

export const UsageQuery = Strict({
  from: Type.Optional(Day('First day; the first of this month by default.')),
  to: Type.Optional(Day('Last day, included; today by default.')),
})

export const UsageSummary = Strict(
  {
    object: Type.Literal('usage_summary'),
    environment: OneOf(ENVIRONMENTS),
    period: Strict({ start: Day('First day.'), end: Day('Last day, included.') }),
    totals: Strict(totals),
    decisions_by_verdict: Strict({
      approve: Count,
      approve_with_conditions: Count,
      manual_review: Count,
      decline: Count,
    } satisfies Record<Verdict, typeof Count>),
    by_day: Type.Array(Strict({ date: Day('The day, in UTC.'), ...totals })),
    limits: Strict({
      requests_per_second: Type.Integer({ description: 'The rate of requests that each node answers, per second.' }),
      request_burst: Type.Integer({ description: 'The number of requests that each node answers at once.' }),
      body_bytes_max: Type.Integer(),
      transactions_per_batch_max: Type.Integer(),
    }),
  },
  { title: 'UsageSummary' },
)
export type UsageSummary = Static<typeof UsageSummary>
