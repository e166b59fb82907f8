import { IconUserSearch } from '@tabler/icons-react'
import { ImpactMark } from '../../components/impact-mark.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { Banner } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { Verdict } from '../../components/verdict.tsx'
import { writeFixed, writeMoney, writeRate } from '../../components/write-number.ts'
import { writeDecimal, writePoints } from '../../decision-view/write-feature.ts'
import type { ShownCase } from './review-case.ts'
import classes from './review-queue.module.css'
import { explainTrigger } from './trigger-words.ts'

/** Why a person has to look at it, the figures, what weighs, linked parties, and the other decisions of the case. */
export function CaseSummary({ shown }: { shown: ShownCase }) {
  return (
    <>
      {!shown.end && (
        <Banner tone="warn" icon={<IconUserSearch size={16} stroke={1.75} />}>
          <b>Why a person:</b> {explainTrigger(shown)}
        </Banner>
      )}
      <Figures shown={shown} />
      <Reasons shown={shown} />
      <OtherCredit shown={shown} />
      <LinkedParties shown={shown} />
      <JoinedDecisions shown={shown} />
      <PriorReviews shown={shown} />
    </>
  )
}

/** Access without credit has a tier alone: score, probability and limit are about repayment. */
function Figures({ shown: { decision, figures } }: { shown: ShownCase }) {
  const { score, cutoff, risk_tier, requested } = decision
  const { repayment_probability: repaid, could_lend: lend } = figures
  const above = score !== null && cutoff !== null ? score - cutoff : null
  if (!requested)
    return (
      <dl className={classes.figures}>
        <div>
          <dt>Tier</dt>
          <dd>{risk_tier}</dd>
        </div>
      </dl>
    )
  return (
    <dl className={classes.figures}>
      <div>
        <dt>Score</dt>
        <dd>
          {score === null ? '–' : writeDecimal(score)} {above !== null && <small>{writePoints(above)}</small>}
        </dd>
      </div>
      <div>
        <dt>Tier</dt>
        <dd>{risk_tier}</dd>
      </div>
      <div>
        <dt>Will repay</dt>
        <dd>{repaid === null ? '–' : writeRate(repaid)}</dd>
      </div>
      <div>
        <dt>Could lend</dt>
        <dd>{lend ? writeMoney(lend.amount, lend.currency) : 'not known'}</dd>
      </div>
    </dl>
  )
}

function Reasons({ shown: { reasons } }: { shown: ShownCase }) {
  if (reasons.length === 0) return null
  return (
    <section>
      <h3>What weighs</h3>
      <ul className={classes.reasons}>
        {reasons.map(({ code, label, impact }) => (
          <li key={code}>
            <ImpactMark impact={impact} />
            <span title={code}>{label}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What the applicant owes and is offered already, also by the name of an entity that it is merged with. */
function OtherCredit({ shown: { credit } }: { shown: ShownCase }) {
  if (!credit || Object.values(credit).every((each) => each.length === 0)) return null
  return (
    <section>
      <h3>Lent, offered or asked for besides</h3>
      <ul className={classes.joined}>
        {credit.open_credits.map(({ currency, amount }) => (
          <li key={currency}>
            <span>Outstanding</span>
            <span className="num">{writeMoney(amount, currency)}</span>
          </li>
        ))}
        {credit.open_offers.map(({ decision_id, offered, expires_at }) => (
          <li key={decision_id}>
            <span>
              <PageLink to={`decisions/${decision_id}`}>Open offer</PageLink>{' '}
              <span className="secondary">
                expires <Time at={expires_at} as="date" />
              </span>
            </span>
            <span className="num">{writeMoney(offered.amount, offered.currency)}</span>
          </li>
        ))}
        {credit.waiting.map(({ decision_id, entity_id, name, requested }) => (
          <li key={decision_id}>
            <span>
              Waits in a case of <PageLink to={`entities/${entity_id}`}>{name}</PageLink>
              <span className="secondary">, merged with this one</span>
            </span>
            <span className="num">{writeMoney(requested.amount, requested.currency)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function LinkedParties({ shown: { paths, entity } }: { shown: ShownCase }) {
  if (paths.length === 0) return null
  return (
    <section>
      <h3>{paths.length === 1 ? 'Linked party' : 'Linked parties'}</h3>
      <ul className={classes.paths}>
        {paths.map((path) => (
          <li key={path.entity_id}>
            <span className={classes.party}>{entity.name}</span>
            <span className={classes.edges}>
              {path.edges.join(' → ')}
              <small className="num">{writeFixed(path.strength, 2)}</small>
            </span>
            <PageLink to={`entities/${path.entity_id}`} className={classes.party} data-bad>
              {path.name}
              <small>bad outcome</small>
            </PageLink>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The decisions about the applicant since the case was opened that no person decides, or did. */
function JoinedDecisions({ shown: { decisions } }: { shown: ShownCase }) {
  const others = decisions.filter(({ is_waiting, review }) => !is_waiting && !review)
  if (others.length === 0) return null
  return (
    <section>
      <h3>Also decided since</h3>
      <ul className={classes.joined}>
        {others.map(({ id, verdict, requested, product, decided_at }) => (
          <li key={id}>
            <span>
              <Verdict verdict={verdict} />{' '}
              <span className="secondary">
                {requested ? writeMoney(requested.amount, requested.currency) : product.replaceAll('_', ' ')}
              </span>
            </span>
            <span className="dim">
              <Time at={decided_at} as="relative" />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function PriorReviews({ shown: { prior } }: { shown: ShownCase }) {
  if (prior.length === 0) return null
  return (
    <section>
      <h3>Earlier reviews</h3>
      <ul className={classes.joined}>
        {prior.map(({ review_id, verdict, by, at, reason }) => (
          <li key={review_id}>
            <span>
              {verdict ? <Verdict verdict={verdict} /> : 'Reviewed'} <span className="secondary">{reason}</span>
            </span>
            <span className="dim">
              {by}, <Time at={at} as="date" />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
