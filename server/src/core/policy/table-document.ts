import { Type } from 'typebox'
import { IMPACTS } from '../vocabularies.ts'
import { Closed, Code, Explanation, Expression, Label } from './document-fields.ts'

const Cell = Closed(
  {
    from: Type.Optional(Type.Number({ description: 'Holds numbers from this on.' })),
    below: Type.Optional(Type.Number({ description: 'Holds numbers below this.' })),
    equals: Type.Optional(Type.Union([Type.String(), Type.Boolean()])),
    in: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 100 })),
    not_in: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 100 })),
    missing: Type.Optional(
      Type.Literal(true, { description: 'Holds a missing value, besides those that the rest of the cell holds.' }),
    ),
  },
  'The values of a column that a row is about.',
)

const TableRow = Closed(
  {
    row: Code,
    when: Type.Record(Code, Cell, { description: 'A cell by column; a column without one holds any value.' }),
    // biome-ignore lint/suspicious/noThenProperty: a row is never awaited, and `when … then` reads naturally
    then: Type.Enum(['none', 'decline', 'manual_review', 'condition', 'cap']),
    cap: Type.Optional(Expression('For `cap`: a number in CEL, as in a rule after the score.')),
    reason: Type.Optional(Closed({ code: Code, label: Label, impact: Type.Enum([...IMPACTS]) })),
    condition: Type.Optional(Explanation),
    covers: Type.Optional(Code),
    questions_data: Type.Optional(Type.Boolean()),
    explanation: Type.Optional(Label),
  },
  'What to do for some values of the columns: as a rule after the score, or `none`.',
)

/** The schema of a decision table. */
export const DecisionTable = Closed(
  {
    table: Code,
    label: Label,
    hit: Type.Optional(
      Type.Enum(['unique', 'first'], {
        description: '`unique`: no two rows hold the same values. `first`: of those that do, the first counts.',
      }),
    ),
    columns: Type.Array(
      Closed({
        column: Code,
        value: Expression('A value in CEL, of what a rule after the score may read.'),
      }),
      { minItems: 1, maxItems: 6 },
    ),
    rows: Type.Array(TableRow, { minItems: 1, maxItems: 100 }),
  },
  'A decision table: the row that holds the values of the columns says what to do.',
)
