import { IconArrowsLeftRight } from '@tabler/icons-react'
import { Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { Verdict } from '../../components/verdict.tsx'
import { writeLatency, writeMoney, writePercent } from '../../components/write-number.ts'
import { featureWriter, writeDecimal } from '../../decision-view/write-feature.ts'
import classes from './playground.module.css'
import type { DryResult } from './playground-request.ts'
import { whyDifferent } from './why-different.ts'

/** Two policies on the same facts, or two scenarios, side by side, and one sentence why they differ. */
export function CompareResults({
  results,
  names,
}: {
  results: readonly [DryResult, DryResult]
  /** The names of two scenarios; without them, the two differ in their policies alone. */
  names?: readonly [string, string]
}) {
  const [a, b] = results
  const differs = a.view.verdict !== b.view.verdict
  return (
    <Section
      title="Decision"
      sub={names ? 'two scenarios' : 'two policies, the same facts'}
      end={
        <span className="dim small">
          {writeLatency(a.took_ms)} + {writeLatency(b.took_ms)}
        </span>
      }
      flush
      footer={
        <span>
          <IconArrowsLeftRight size={14} aria-hidden="true" /> <b>Why they differ:</b> {whyDifferent(a.view, b.view)}
        </span>
      }
    >
      <div className={classes.compared}>
        {results.map((result, index) => (
          <Side
            key={'AB'[index]}
            letter={'AB'[index]!}
            name={names?.[index]}
            result={result}
            differs={index === 1 && differs}
          />
        ))}
      </div>
      {names && <DifferentFacts a={a} b={b} />}
    </Section>
  )
}

function Side({
  letter,
  name,
  result,
  differs,
}: {
  letter: string
  name: string | undefined
  result: DryResult
  differs: boolean
}) {
  const { view } = result
  const { requested, recommended_limit, evidence } = view
  return (
    <div>
      <p>
        <StateBadge>{letter}</StateBadge> <b>{name ?? view.policy.version}</b>{' '}
        {name && <span className="dim">{view.policy.version}</span>}{' '}
        <code className="dim">{view.policy.checksum?.slice(0, 8)}</code>
      </p>
      <p className={classes.sideVerdict}>
        {view.verdict && <Verdict verdict={view.verdict} whole />}
        {differs && <StateBadge tone="warn">verdict differs</StateBadge>}
      </p>
      <p className={classes.sideAmount}>
        {requested && recommended_limit !== null ? writeMoney(recommended_limit, requested.currency) : 'No limit'}{' '}
        {requested && <span className="dim">of {writeMoney(requested.amount, requested.currency)}</span>}
      </p>
      <dl className={classes.sideFigures}>
        <div>
          <dt>Score</dt>
          <dd>
            {requested && evidence.score
              ? `${writeDecimal(evidence.score.total)} of ${writeDecimal(evidence.score.cutoff)}`
              : '–'}
          </dd>
        </div>
        <div>
          <dt>Tier</dt>
          <dd>{view.tier}</dd>
        </div>
        <div>
          <dt>Confidence</dt>
          <dd>{evidence.confidence ? writePercent(evidence.confidence.ppm / 1e6) : '–'}</dd>
        </div>
        <div>
          <dt>Bound by</dt>
          <dd>{evidence.limit?.bound?.name ?? '–'}</dd>
        </div>
      </dl>
      <ul className={classes.sideReasons}>
        {view.reasons.slice(0, REASONS_SHOWN).map(({ code, label }) => (
          <li key={`${code} ${label}`}>
            {label} <code className="dim">{code}</code>
          </li>
        ))}
      </ul>
    </div>
  )
}

const REASONS_SHOWN = 4

/** The facts in which two scenarios differ, those first that a policy reads. */
function DifferentFacts({ a, b }: { a: DryResult; b: DryResult }) {
  const [inA, inB] = [a, b].map(({ view }) => new Map(view.features.map((feature) => [feature.feature, feature])))
  const [writeA, writeB] = [featureWriter(a.view), featureWriter(b.view)]
  const different = [...new Map([...inA!, ...inB!]).values()]
    .filter(({ feature }) => (inA!.get(feature)?.value ?? null) !== (inB!.get(feature)?.value ?? null))
    .sort((one, other) => weight(other) - weight(one))
  if (different.length === 0) return <p className={classes.note}>Both decide from the same facts.</p>
  return (
    <table className={classes.facts}>
      <caption>
        {different.length === 1 ? 'One fact differs' : `${different.length} facts differ`}
        {different.length > FACTS_SHOWN && `, of which these ${FACTS_SHOWN} are read first`}
      </caption>
      <thead>
        <tr>
          <th scope="col">Fact</th>
          <th scope="col">A</th>
          <th scope="col">B</th>
        </tr>
      </thead>
      <tbody>
        {different.slice(0, FACTS_SHOWN).map(({ feature, label }) => (
          <tr key={feature}>
            <th scope="row">
              {label ?? feature} <code className="dim">{feature}</code>
            </th>
            <td>{writeA!(feature, inA!.get(feature)?.value ?? null)}</td>
            <td>{writeB!(feature, inB!.get(feature)?.value ?? null)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const FACTS_SHOWN = 8

/** How much of the policy reads a fact. */
function weight({ feature, used_by }: DryResult['view']['features'][number]): number {
  const asked = feature === 'request.amount' ? 100 : 0
  return asked + used_by.rules.length + (used_by.scorecard ? 2 : 0) + (used_by.limit ? 1 : 0)
}
