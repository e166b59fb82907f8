import { Type } from 'typebox'
import { Closed, Code, Expression, Label } from './document-fields.ts'

/** What a reason says, as its author writes it. */
export const Meaning = Closed(
  {
    code: Code,
    means: Expression(
      'What the label says, as a condition in CEL over the inputs, the derived features, what a limit term may read, `request.amount` and `request.instalment`.',
    ),
    groups: Type.Optional(
      Type.Array(Code, {
        minItems: 1,
        maxItems: 20,
        description:
          'What the reason speaks about, besides the group of its characteristic and what its rule covers. A positive reason is not given beside a negative one of the same group.',
      }),
    ),
    instead: Type.Optional(
      Type.Array(Closed({ when: Expression('A condition in CEL, as `means`.'), code: Code, label: Label }), {
        minItems: 1,
        maxItems: 5,
        description: 'Reasons to give in its place: the first whose condition holds.',
      }),
    ),
  },
  'What a reason means, so that it can be checked: `policy check` refuses a rule or a bin that gives a negative reason where its meaning does not hold, `policy test` fails where a decision gives one, and a positive reason is given only if its meaning holds.',
)
