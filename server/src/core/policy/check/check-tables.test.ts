import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { documentedPart } from '../../../../tests/documented-policy.ts'
import { doing, editedDocument, problemsOf, snapshotInput } from '../../../../tests/edited-policy.ts'
import type { PolicyTable } from '../policy-document.ts'
import { gridOf } from '../table-grid.ts'

type Rows = PolicyTable['rows']

const { inputs } = editedDocument({})
const SENT = [snapshotInput('debt'), snapshotInput('kind', 'string'), snapshotInput('owner', 'boolean')]
const NONE = doing({}, 'none')
const REASON = { code: 'it', label: 'Debt is heavy', impact: 'negative' } as const
const COLUMNS = [
  { column: 'score', value: 'score.total' },
  { column: 'debt', value: 'snapshot.debt' },
]

function said(rows: Rows, table: Partial<PolicyTable> = {}): string[] {
  const whole = { table: 'it', label: 'It', columns: COLUMNS, rows, ...table }
  return problemsOf({ inputs: [...inputs, ...SENT], tables: [whole] })
}

const UNKNOWN = { row: 'unknown', when: { debt: { missing: true as const } }, ...NONE }
const LOW = { row: 'low', when: { score: { below: 500 }, debt: { below: 0.4 } }, ...NONE }
const HIGH = { row: 'high', when: { score: { from: 500 }, debt: { below: 0.4 } }, ...NONE }
const HEAVY = doing({ row: 'heavy', when: { debt: { from: 0.4 } }, reason: REASON }, 'decline')

describe('the check of a table', () => {
  it('finds nothing where each combination of values is in one row', () => {
    assert.deepEqual(said([LOW, HIGH, HEAVY, UNKNOWN]), [])
  })

  it('names the values that no row holds, as few combinations as possible', () => {
    assert.deepEqual(said([LOW, HIGH, UNKNOWN]), ["/tables/0: table 'it' has no row for debt 0.4 or more; add one"])
    assert.deepEqual(said([LOW, HEAVY, UNKNOWN]), [
      "/tables/0: table 'it' has no row for score 500 or more and debt below 0.4; add one",
    ])
  })

  it('names values between two bounds that no row holds', () => {
    const high = { ...HIGH, when: { score: { from: 510 }, debt: { below: 0.4 } } }
    assert.deepEqual(said([LOW, high, HEAVY, UNKNOWN]), [
      "/tables/0: table 'it' has no row for score 500 to below 510 and debt below 0.4; add one",
    ])
  })

  it('names the values that two rows hold', () => {
    const high = { ...HIGH, when: { score: { from: 480 }, debt: { below: 0.4 } } }
    assert.deepEqual(said([LOW, high, HEAVY, UNKNOWN]), [
      "/tables/0/rows/1: rows 'low' and 'high' both hold score 480 to below 500 and debt below 0.4; narrow one, or write 'hit: first'",
    ])
  })

  it('names rows that are never reached where the first row counts', () => {
    const within = { row: 'within', when: { debt: { from: 0.5 } }, ...NONE }
    assert.deepEqual(said([LOW, HIGH, HEAVY, within, UNKNOWN], { hit: 'first' }), [
      "/tables/0/rows/3: row 'within' of table 'it' is never reached: rows above it hold all of its values; move it up, or remove it",
    ])
    assert.deepEqual(said([LOW, HIGH, HEAVY, { row: 'others', when: {}, ...NONE }], { hit: 'first' }), [])
  })

  it('warns where a missing value is in no row, and not of what is always known', () => {
    assert.deepEqual(said([LOW, HIGH, HEAVY]), [
      "/tables/0: warning: table 'it' has no effect where 'debt' is missing; add a row with 'missing: true', or a rule that asks for it",
    ])
    const columns = [COLUMNS[0]!]
    const rows = [
      { row: 'low', when: { score: { below: 500 } }, ...NONE },
      { row: 'high', when: { score: { from: 500 } }, ...NONE },
    ]
    assert.deepEqual(said(rows, { columns }), [])
  })

  it('takes texts that no row names for a case of their own, unless all texts are known', () => {
    const columns = [{ column: 'kind', value: 'snapshot.kind' }]
    const car = { row: 'car', when: { kind: { equals: 'car', missing: true as const } }, ...NONE }
    const rest = { row: 'rest', when: { kind: { not_in: ['car'] } }, ...NONE }
    assert.deepEqual(said([car, { ...rest, when: { kind: { in: ['home'] } } }], { columns }), [
      "/tables/0: table 'it' has no row for kind any other text; add one",
    ])
    assert.deepEqual(said([car, rest], { columns }), [])
    const tiers = [{ column: 'tier', value: 'tier.name' }]
    const names = editedDocument({}).tiers.map(({ tier }) => tier)
    const best = { row: 'best', when: { tier: { in: names.slice(0, 2) } }, ...NONE }
    const others = { row: 'others', when: { tier: { in: names.slice(2) } }, ...NONE }
    assert.deepEqual(said([best, others], { columns: tiers }), [])
    assert.deepEqual(
      said([best, others, { row: 'no', when: { tier: { equals: 'Z' } }, ...NONE }], { columns: tiers }),
      [
        "/tables/0/rows/2: row 'no' of table 'it' is never reached: no value fits its cells; correct them, or remove it",
      ],
    )
  })

  it('takes true and false for all values of a column that is true or false', () => {
    const columns = [{ column: 'owner', value: 'snapshot.owner' }]
    const owner = { row: 'owner', when: { owner: { equals: true, missing: true as const } }, ...NONE }
    assert.deepEqual(said([owner], { columns }), ["/tables/0: table 'it' has no row for owner false; add one"])
    assert.deepEqual(said([owner, { row: 'other', when: { owner: { equals: false } }, ...NONE }], { columns }), [])
  })

  const REFUSED: Record<string, [rows: Rows, table: Partial<PolicyTable>, message: RegExp]> = {
    'a column that is not there': [
      [{ row: 'a', when: { scoer: { below: 1 } }, ...NONE }],
      {},
      /\/tables\/0\/rows\/0\/when\/scoer: table 'it' has no column 'scoer'; write one of score, debt/,
    ],
    'a column that does not compile': [
      [LOW],
      { columns: [{ column: 'score', value: 'score.totel' }, COLUMNS[1]!] },
      /\/tables\/0\/columns\/0\/value: column 1: there is no score\.totel; write one of score\.bad_probability/,
    ],
    'a cell of another type': [
      [{ row: 'a', when: { debt: { equals: 'much' } }, ...NONE }],
      {},
      /row 'a': 'snapshot\.debt' is a number; give the cell 'from', 'below' or both/,
    ],
    'an empty cell': [[{ row: 'a', when: { debt: {} }, ...NONE }], {}, /an empty cell; remove it to hold any value/],
    'a cell that asks in two ways': [
      [{ row: 'a', when: { debt: { below: 1, in: ['a'] } }, ...NONE }],
      {},
      /one cell asks in one way/,
    ],
    'bounds that hold no number': [
      [{ row: 'a', when: { debt: { from: 2, below: 1 } }, ...NONE }],
      {},
      /no number is 2 or more and below 1; exchange them, or raise 'below'/,
    ],
    'an expression asked whether it is missing': [
      [{ row: 'a', when: { debt: { missing: true } }, ...NONE }],
      { columns: [{ column: 'debt', value: 'snapshot.debt * 2' }] },
      /only a feature by itself can be asked whether it is missing; put 'snapshot\.debt \* 2' into a derived feature/,
    ],
    'a row without a reason': [
      [LOW, HIGH, doing({ row: 'heavy', when: { debt: { from: 0.4 } } }, 'decline'), UNKNOWN],
      {},
      /row 'heavy' has no 'reason'; give it one, or write 'then: none'/,
    ],
    'a reason of a row that does nothing': [
      [LOW, HIGH, doing(HEAVY, 'none'), UNKNOWN],
      {},
      /rows\/2\/reason: row 'heavy' does nothing; remove 'reason', or say in 'then' what it does/,
    ],
    'a cap without an amount': [
      [LOW, HIGH, doing(HEAVY, 'cap'), UNKNOWN],
      {},
      /\/tables\/0\/rows\/2: rule 'it\/heavy' caps the limit; say at which amount, as 'cap'/,
    ],
    'a row that declines with a positive reason': [
      [LOW, HIGH, { ...HEAVY, reason: { ...REASON, impact: 'positive' } }, UNKNOWN],
      {},
      /\/tables\/0\/rows\/2\/reason\/impact: rule 'it\/heavy' counts against the applicant \(decline\)/,
    ],
    'a decline by payments': [
      [LOW, HIGH, HEAVY, UNKNOWN],
      { columns: [COLUMNS[0]!, { column: 'debt', value: 'graph.negative_exposure' }] },
      /row 'heavy': graph\.negative_exposure includes payments and may not count towards a decline/,
    ],
    'a vague reason': [
      [LOW, HIGH, { ...HEAVY, reason: { ...REASON, label: 'Internal policy' } }, UNKNOWN],
      {},
      /\/tables\/0\/rows\/2\/reason\/label: 'Internal policy' is no specific reason/,
    ],
    'a row that is there twice': [
      [LOW, HIGH, HEAVY, UNKNOWN, { ...UNKNOWN, row: 'low' }],
      {},
      /\/tables\/0\/rows\/4: 'low' is there twice; rename one/,
    ],
    'a table named like a rule': [
      [LOW, HIGH, HEAVY, UNKNOWN],
      { table: 'default_on_record' },
      /\/tables\/0: 'default_on_record' is there twice; rename one/,
    ],
    'more combinations than can be looked at': [
      Array.from({ length: 100 }, (_, n) => ({
        row: `r${n}`,
        when: { score: { from: n, below: n + 1 }, debt: { from: n, below: n + 1 }, more: { below: n } },
        ...NONE,
      })),
      { columns: [...COLUMNS, { column: 'more', value: 'history.late' }] },
      /table 'it' divides its columns into \d+ cases, more than 20000; use fewer bounds, or two tables/,
    ],
  }
  for (const [what, [rows, table, message]] of Object.entries(REFUSED)) {
    it(`refuses ${what}`, () => {
      assert.match(said(rows, table).join('\n'), message)
    })
  }
})

it('the grid of a table has each value of a column in one band', () => {
  const [table] = documentedPart('tables')
  const { axes, size, rowsAt } = gridOf(table!)
  assert.deepEqual(
    axes.map(({ bands }) => bands.map(({ kind }) => kind)),
    [
      ['range', 'range', 'missing'],
      ['range', 'range', 'range', 'missing'],
    ],
  )
  assert.equal(size, 12)
  // Below 600 and 0.3 to below 0.45.
  assert.deepEqual(rowsAt(0 + 3 * 1), [2])
})
