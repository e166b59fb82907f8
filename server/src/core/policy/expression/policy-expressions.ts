import type { PolicyDocument, PolicyRule, PolicyTable } from '../policy-document.ts'

/** An expression of a policy with its place in the document. */
export interface PolicyExpression {
  path: (string | number)[]
  source: string
}

/** Every expression of a policy, in the order of the document. */
export function expressionsOf(document: PolicyDocument): PolicyExpression[] {
  const { derived = [], segments = [], rules, after_score = [], tables = [], limit, meanings = [] } = document
  return [
    ...derived.map(({ value }, index) => ({ path: ['derived', index, 'value'], source: value })),
    ...segments.map(({ when }, index) => ({ path: ['segments', index, 'when'], source: when })),
    ...rules.flatMap((rule, index) => ruleExpressions(rule, ['rules', index])),
    ...after_score.flatMap((rule, index) => ruleExpressions(rule, ['after_score', index])),
    ...tables.flatMap((table, index) => tableExpressions(table, ['tables', index])),
    ...termExpressions(limit.terms, ['limit', 'terms']),
    ...segments.flatMap(({ rules: own = [], after_score: later = [], tables: ofSegment = [] }, segment) => [
      ...own.flatMap((rule, index) => ruleExpressions(rule, ['segments', segment, 'rules', index])),
      ...later.flatMap((rule, index) => ruleExpressions(rule, ['segments', segment, 'after_score', index])),
      ...ofSegment.flatMap((table, index) => tableExpressions(table, ['segments', segment, 'tables', index])),
    ]),
    ...segments.flatMap((segment, index) =>
      termExpressions(segment.limit?.terms ?? [], ['segments', index, 'limit', 'terms']),
    ),
    ...meanings.flatMap(({ means, instead = [] }, index) => [
      { path: ['meanings', index, 'means'], source: means },
      ...instead.map(({ when }, place) => ({ path: ['meanings', index, 'instead', place, 'when'], source: when })),
    ]),
  ]
}

function tableExpressions({ columns, rows }: PolicyTable, path: (string | number)[]): PolicyExpression[] {
  return [
    ...columns.map(({ value }, index) => ({ path: [...path, 'columns', index, 'value'], source: value })),
    ...rows.flatMap(({ cap }, index) =>
      cap === undefined ? [] : [{ path: [...path, 'rows', index, 'cap'], source: cap }],
    ),
  ]
}

function ruleExpressions({ when, cap }: PolicyRule, path: (string | number)[]): PolicyExpression[] {
  const condition = { path: [...path, 'when'], source: when }
  return cap === undefined ? [condition] : [condition, { path: [...path, 'cap'], source: cap }]
}

function termExpressions(terms: PolicyDocument['limit']['terms'], path: (string | number)[]): PolicyExpression[] {
  return terms.flatMap((term, index) =>
    (['instalment', 'amount'] as const).flatMap((field) => {
      const source = term[field]
      return source === undefined ? [] : [{ path: [...path, index, field], source }]
    }),
  )
}
