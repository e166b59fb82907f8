import { KeyValues, Section } from '../../components/section.tsx'
import { writeCount, writeNumber, writePercent } from '../../components/write-number.ts'
import { PlainTable } from './plain-table.tsx'
import classes from './policies.module.css'
import type { BacktestResult, PolicyDocument } from './policy.ts'
import { ACTIONS, TablePicture } from './table-picture.tsx'

type Rule = PolicyDocument['rules'][number]
type Table = NonNullable<PolicyDocument['tables']>[number]
type Characteristic = PolicyDocument['scorecard']['characteristics'][number]
type Parts = Pick<PolicyDocument, 'scorecard' | 'tiers' | 'products'>

/** A policy for people who do not read YAML: cutoffs, rules, scorecard, tiers, limit, prices and segments. */
export function ReadablePolicy({ document, rules }: { document: PolicyDocument; rules?: BacktestResult['rules'] }) {
  const { verdicts, limit, segments = [], after_score = [], tables = [] } = document
  const isScored = document.scorecard.characteristics.length > 0
  return (
    <div className={classes.column}>
      <Section title="When is a verdict given?">
        <KeyValues
          rows={
            !isScored
              ? [['Without a scorecard', 'rules, tables and the limit decide']]
              : [
                  ['A score below this is declined', <b key="cutoff">{writeNumber(verdicts.cutoff)}</b>],
                  ['A person looks at it below this confidence', writePercent(verdicts.confidence_min_ppm / 1e6, 2)],
                  [
                    'A person looks at it if less than this is known',
                    writePercent(verdicts.completeness_min_ppm / 1e6, 2),
                  ],
                ]
          }
        />
      </Section>
      <Rules title="Rules" rules={document.rules} matches={rules} />
      {after_score.length > 0 && <Rules title="Rules after the score" rules={after_score} matches={rules} />}
      {tables.map((table) => (
        <TableSection key={table.table} table={table} matches={rules} />
      ))}
      {isScored && <ScorecardView scorecard={document.scorecard} />}
      <Terms parts={document} />
      <Section title="What bounds the amount?" sub="The limit is at most the lowest of these" flush>
        <PlainTable
          label="Limit terms"
          head={['Term', 'At most', 'Reason given']}
          rows={limit.terms.map(({ term, instalment, amount, reason }) => [
            <span key="term">{words(term)}</span>,
            <code key="most">{instalment === undefined ? amount : `an instalment of ${instalment}`}</code>,
            reason.label,
          ])}
        />
      </Section>
      <Subjects document={document} />
      {segments.map((segment) => (
        <Section key={segment.name} title={`Segment ${words(segment.name)}`} sub={<code>{segment.when}</code>}>
          <div className={classes.column}>
            {segment.verdicts?.cutoff !== undefined && <p>Its cutoff is {writeNumber(segment.verdicts.cutoff)}.</p>}
            {segment.rules && <Rules title="Rules" rules={segment.rules} matches={rules} />}
            {segment.after_score && <Rules title="Rules after the score" rules={segment.after_score} matches={rules} />}
            {segment.tables?.map((table) => (
              <TableSection key={table.table} table={table} matches={rules} />
            ))}
            {segment.scorecard && <ScorecardView scorecard={segment.scorecard} />}
            <Terms parts={segment} />
          </div>
        </Section>
      ))}
    </div>
  )
}

/** What the features describe that the lender sends, and the attributes that are only monitored. */
function Subjects({ document: { inputs, monitored = [], jurisdiction } }: { document: PolicyDocument }) {
  const sent = inputs.filter(({ feature }) => feature.startsWith('snapshot.'))
  if (sent.length + monitored.length === 0) return null
  const where = jurisdiction === undefined ? 'every jurisdiction' : jurisdiction.toUpperCase()
  return (
    <Section title="What the features sent describe" sub={`the prohibited bases of ${where} are refused`} flush>
      <PlainTable
        label="What the features sent describe"
        head={['Feature', 'Describes', 'Used']}
        rows={[
          ...sent.map(({ feature, describes }) => [
            <code key="feature">{feature}</code>,
            describes === undefined ? 'not declared' : words(describes),
            'may be read',
          ]),
          ...monitored.map(({ feature, describes }) => [
            <code key="feature">{feature}</code>,
            words(describes),
            'monitored, never read',
          ]),
        ]}
      />
    </Section>
  )
}

function Rules({
  title,
  rules,
  matches,
}: {
  title: string
  rules: readonly Rule[]
  matches: BacktestResult['rules'] | undefined
}) {
  const found = new Map(matches?.map((match) => [match.rule, match]))
  return (
    <Section title={title} sub={`${rules.length}, all are asked; matches are of the newest backtest`} flush>
      <ul className={classes.rules}>
        {rules.map((rule) => (
          <li key={rule.id}>
            <span>{ACTIONS[rule.then]}</span>
            <span className={classes.ruleWords}>
              {rule.explanation}
              <code className="dim">{rule.when}</code>
            </span>
            <RuleMatches match={found.get(rule.id)} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function TableSection({ table, matches }: { table: Table; matches: BacktestResult['rules'] | undefined }) {
  const matchOf = (row: string) => matches?.find(({ rule }) => rule === `${table.table}/${row}`)
  return (
    <Section
      title={`Table ${words(table.table)}`}
      sub={`${table.label}; ${table.hit === 'first' ? 'the first row that holds the values counts' : 'one row holds the values'}`}
      flush
    >
      <TablePicture table={table} />
      <ul className={classes.rules}>
        {table.rows.map(({ row, then, reason, explanation }) => (
          <li key={row}>
            <span>{ACTIONS[then]}</span>
            <span className={classes.ruleWords}>
              {words(row)}
              {(explanation ?? reason?.label) && <span className="dim">: {explanation ?? reason?.label}</span>}
            </span>
            <RuleMatches match={matchOf(row)} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** How many decisions a rule matched, and how these ended. */
export function RuleMatches({ match }: { match: BacktestResult['rules'][number] | undefined }) {
  if (!match) return <span className="small dim">not counted</span>
  return (
    <span className="small dim">
      {writeCount(match.matched)} matched
      {match.known > 0 && `, ${writeCount(match.bad)} of ${writeCount(match.known)} bad`}
    </span>
  )
}

function ScorecardView({ scorecard }: { scorecard: Parts['scorecard'] }) {
  return (
    <Section title="Scorecard" sub={`starts at ${writeNumber(scorecard.base)} points`}>
      <div className={classes.cards}>
        {scorecard.characteristics.map((one) => (
          <div key={one.id}>
            <h3>{one.label ?? words(one.id)}</h3>
            <p className="small dim">
              <code>{one.feature}</code>, reference {writeNumber(one.reference)}
            </p>
            <PlainTable
              label={one.label ?? words(one.id)}
              head={['Value', 'Points']}
              rows={[...binsOf(one), ['Not known', writeNumber(one.missing)]]}
            />
          </div>
        ))}
      </div>
    </Section>
  )
}

function binsOf({ bins }: Characteristic): [string, string][] {
  let from: number | undefined
  return bins.map(({ below, equals, in: among, points }) => {
    const start = from
    if (below !== undefined) from = below
    if (equals !== undefined) return [String(equals), writeNumber(points)]
    if (among !== undefined) return [among.join(', '), writeNumber(points)]
    if (below === undefined)
      return [start === undefined ? 'All values' : `${writeBound(start)} or more`, writeNumber(points)]
    return [
      start === undefined ? `Below ${writeBound(below)}` : `${writeBound(start)} up to ${writeBound(below)}`,
      writeNumber(points),
    ]
  })
}

/** The bound of a bin with all its decimals: a policy may tell 0.0005 from 0.0004. */
function writeBound(value: number): string {
  return writeNumber(value, { maximumFractionDigits: 20 })
}

function Terms({ parts: { tiers, products } }: { parts: Partial<Parts> }) {
  return (
    <>
      {tiers && (
        <Section title="Tiers" flush>
          <PlainTable
            label="Tiers"
            head={['Tier', 'From score', 'Highest amount']}
            rows={tiers.map(({ tier, from, cap }) => [
              tier,
              from === undefined ? 'all other scores' : writeNumber(from),
              cap === undefined ? '–' : writeCount(cap),
            ])}
          />
        </Section>
      )}
      {products && (
        <Section title="Products and prices" flush>
          <PlainTable
            label="Products and prices"
            head={['Product', 'Kind', 'Months', 'Yearly rate', 'By tier and amount']}
            rows={products.map(
              ({ product, kind = 'credit', term_months, term_choices = [], annual_rate, rates = [] }) => [
                words(product),
                words(kind),
                term_months === undefined ? '–' : monthsOf(term_months, term_choices),
                annual_rate === undefined ? '–' : writePercent(annual_rate, 2),
                kind === 'access' ? '–' : rates.map(priceWords).join(', ') || 'the same',
              ],
            )}
          />
        </Section>
      )}
    </>
  )
}

/** The term without a choice, and those that the applicant may choose. */
function monthsOf(term: number, choices: readonly number[]): string {
  return choices.length === 0
    ? writeCount(term)
    : `${writeCount(term)}, or ${choices.map(writeCount).join(', ')} by choice`
}

function priceWords({ tier, from, annual_rate }: { tier: string; from?: number; annual_rate: number }): string {
  return `${tier}${from === undefined ? '' : ` from ${writeCount(from)}`} ${writePercent(annual_rate, 2)}`
}

function words(name: string): string {
  return name.replaceAll('_', ' ')
}
