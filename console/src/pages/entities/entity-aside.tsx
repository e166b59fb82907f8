import { IconCircleCheck, IconCircleX, IconClock } from '@tabler/icons-react'
import { PageLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { StateBadge, type Tone } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { Verdict } from '../../components/verdict.tsx'
import { writePercent } from '../../components/write-number.ts'
import { AmountLine, ReviewedBy, writeConditions } from '../../decision-view/granted.tsx'
import classes from './entities.module.css'
import type { ShownEntity } from './entity.ts'

/** Stands for what was altered in the database so that it cannot be read. */
const ALTERED = <span className="text-decline">altered</span>

/** The newest decisions about an entity. */
export function DecisionsSection({ entity: { decisions, id } }: { entity: ShownEntity }) {
  return (
    <Section
      title="Decisions"
      flush
      end={
        <PageLink to="decisions" search={{ entity_id: id }} className="small">
          All decisions
        </PageLink>
      }
    >
      {decisions.length === 0 ? (
        <p className={`dim ${classes.padded}`}>No decision yet.</p>
      ) : (
        <ul className={classes.rows}>
          {decisions.map((decision) => (
            <li key={decision.id}>
              <PageLink to={`decisions/${decision.id}`} className={classes.rowWords}>
                {decision.verdict ? <Verdict verdict={decision.verdict} /> : ALTERED} <AmountLine {...decision} />
              </PageLink>
              <span className="dim small">
                <Time at={decision.decided_at} as="date" />
              </span>
              {decision.review && (
                <span className={`${classes.wholeRow} secondary small`}>
                  Reviewed <ReviewedBy review={decision.review} />
                  {decision.review.conditions.length > 0 && `: ${writeConditions(decision.review)}`}
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

/** The consents of an entity, the newest of each purpose. */
export function ConsentsSection({ entity: { consents } }: { entity: ShownEntity }) {
  return (
    <Section title="Consents" flush>
      {consents.length === 0 ? (
        <p className={`dim ${classes.padded}`}>None was recorded.</p>
      ) : (
        <ul className={classes.rows}>
          {consents.map(({ id, purpose, categories, state, granted_at, expires_at, revoked_at }) => (
            <li key={id}>
              <span>
                <code>{purpose}</code>
                <span className={classes.below}>{categories ? categories.join(', ') || 'all data' : ALTERED}</span>
              </span>
              {state === 'granted' ? (
                <span className="dim small">
                  {expires_at ? (
                    <>
                      expires <Time at={expires_at} as="relative" />
                    </>
                  ) : (
                    <>
                      since <Time at={granted_at} as="date" />
                    </>
                  )}
                </span>
              ) : (
                <span className="text-review small">
                  {state} <Time at={revoked_at ?? expires_at ?? granted_at} as="date" />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

const STATUS: Readonly<Record<string, { tone: Tone; icon: typeof IconClock }>> = {
  verified: { tone: 'ok', icon: IconCircleCheck },
  unverified: { tone: 'neutral', icon: IconClock },
  failed: { tone: 'bad', icon: IconCircleX },
}

/** The identifiers and relationships that were reported about an entity, each as it stands now. */
export function IdentitySection({ entity: { identifiers, relationships } }: { entity: ShownEntity }) {
  return (
    <Section title="Identity" sub="kept as keyed hashes" flush>
      {identifiers.length + relationships.length === 0 && <p className={`dim ${classes.padded}`}>None was reported.</p>}
      <ul className={classes.rows}>
        {identifiers.map(({ id, type, masked, issuer, status }) => (
          <li key={id}>
            <span>
              <code>{type}</code> <span className="dim mono">{masked}</span>
              {issuer && <span className={classes.below}>{issuer}</span>}
            </span>
            <Status status={status} />
          </li>
        ))}
        {relationships.map(({ id, relationship, entity_id, entity_name, share, status }) => (
          <li key={id}>
            <span>
              <code>{relationship}</code>
              {share !== null && ` ${writePercent(share, 0)}`}{' '}
              <PageLink to={`entities/${entity_id}`}>{entity_name}</PageLink>
            </span>
            <Status status={status} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Status({ status }: { status: string }) {
  const { tone, icon: Icon } = STATUS[status] ?? { tone: 'neutral' as const, icon: IconClock }
  return (
    <StateBadge tone={tone} icon={<Icon size={13} />}>
      {status}
    </StateBadge>
  )
}
