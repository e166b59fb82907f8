import type { Static } from 'typebox'
import { ObjectName, Open, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import type { Verdict } from '../../core/vocabularies.ts'
import { EnvironmentName } from './fields.ts'

const Day = (description: string) => Type.String({ format: 'date', description, examples: ['2026-11-01'] })
const Count = (description: string) => Type.Integer({ minimum: 0, description })

const totals = {
  requests: Count('Requests with a valid key.'),
  errors: Count('Those of them that were answered with an error.'),
  decisions: Count('Decisions made.'),
  entities: Count('Entities created.'),
  transactions: Count('Transactions accepted.'),
  webhook_deliveries: Count('Events delivered to webhook endpoints.'),
}

export const UsageQuery = Strict({
  from: Type.Optional(Day('First day; the first of this month by default.')),
  to: Type.Optional(Day('Last day, included; today by default.')),
})

export const UsageSummary = Open(
  {
    object: ObjectName('usage_summary'),
    environment: EnvironmentName,
    period: Open(
      { start: Day('First day.'), end: Day('Last day, included.') },
      { description: 'The days that are summed up, in UTC.' },
    ),
    totals: Open(totals, { description: 'The sums of the period.' }),
    decisions_by_verdict: Open(
      {
        approve: Count('Approvals.'),
        approve_with_conditions: Count('Approvals with conditions.'),
        manual_review: Count('Cases left to a person.'),
        decline: Count('Declines.'),
      } satisfies Record<Verdict, ReturnType<typeof Count>>,
      { description: 'The decisions of the period by verdict.' },
    ),
    by_day: Type.Array(Open({ date: Day('The day, in UTC.'), ...totals }), {
      description: 'The sums of each day with any usage, oldest first.',
    }),
    limits: Open(
      {
        requests_per_second: Type.Integer({ description: 'The rate of requests that each node answers, per second.' }),
        request_burst: Type.Integer({ description: 'The number of requests that each node answers at once.' }),
        body_bytes_max: Type.Integer({ description: 'The largest body of a request, in bytes.' }),
        transactions_per_batch_max: Type.Integer({ description: 'The largest number of transactions in a batch.' }),
      },
      { description: 'The limits that apply to the organization.' },
    ),
  },
  { title: 'UsageSummary', description: 'What an organization used in a period.' },
)
export type UsageSummary = Static<typeof UsageSummary>
