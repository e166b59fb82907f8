import { Type } from 'typebox'
import { SETTLING_STEPS } from '../decide/settling-steps.ts'
import { MISSING_BECAUSE, type MissingBecause } from '../facts/facts.ts'
import { VERDICTS } from '../vocabularies.ts'
import { Closed, Code } from './document-fields.ts'

/** The schema of a test that a policy carries. */
export const PolicyTest = Closed({
  name: Type.String({ minLength: 1 }),
  age_days: Type.Optional(Type.Integer({ minimum: 0, description: 'How old the features that age are.' })),
  facts: Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Boolean()]), {
    description: 'The features that are known; all others are missing.',
  }),
  missing: Type.Optional(
    Type.Record(Type.String(), Type.Enum(Object.keys(MISSING_BECAUSE) as MissingBecause[]), {
      description: 'Features that are missing for another cause than `no_data`.',
    }),
  ),
  expect: Closed({
    verdict: Type.Optional(Type.Enum([...VERDICTS])),
    tier: Type.Optional(Type.String()),
    limit: Type.Optional(Type.Number()),
    score: Type.Optional(Type.Integer()),
    settled_by: Type.Optional(
      Type.Enum(
        SETTLING_STEPS.flatMap(({ settles }) => settles.map(({ by }) => by)),
        { description: 'The step that settles the verdict.' },
      ),
    ),
    segment: Type.Optional(Type.String({ description: 'The segment; `none` for the document itself.' })),
    annual_rate: Type.Optional(Type.Number({ description: 'The price of what is approved, or else of the request.' })),
    reasons_include: Type.Optional(Type.Array(Code)),
    conditions_include: Type.Optional(Type.Array(Code)),
  }),
})
