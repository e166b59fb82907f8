import { IconAlertTriangle, IconCircleCheckFilled, IconCircleX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { CopyableId } from '../../components/copyable-id.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import classes from './live-gate.module.css'

/** The state of the live gate, as the server tells it. */
export type Gate = OutputOf<'live-gate.show'>

type Evidence = Gate['evidence']

/** What a careful operator looks at before approving, each with its evidence. Only the policy is mandatory. */
export function Checklist({ evidence }: { evidence: Evidence }) {
  const { policy, verified_endpoint, test_delivery, approvers } = evidence
  const done = [policy, verified_endpoint, test_delivery, approvers.length >= 2].filter(Boolean).length
  return (
    <Section title="Checklist" sub="What there is to see before you approve" end={`${done} of 4`} flush>
      <ul className={classes.checks}>
        <PolicyCheck policy={policy} />
        <EndpointCheck evidence={evidence} />
        <TestCheck test={test_delivery} />
        <Check state={approvers.length >= 2 ? 'done' : 'missing'} title="Two operators can approve">
          {approvers.length >= 2 ? (
            <>{approvers.map(({ name }) => name).join(', ')} are owners or admins.</>
          ) : (
            <>
              {approvers[0] ? `Only ${approvers[0].name} is owner or admin. ` : 'No operator is owner or admin. '}
              <PageLink to="team">{approvers[0] ? 'Invite a second one' : 'Invite two'}</PageLink>.
            </>
          )}
        </Check>
      </ul>
    </Section>
  )
}

function PolicyCheck({ policy }: { policy: Evidence['policy'] }) {
  if (!policy)
    return (
      <Check state="missing" title="A policy is active in production" isMandatory>
        There is none, so nothing could be decided, and approvals are refused. Propose one, let a second operator
        approve it, then activate it under <PageLink to="policies">Policies</PageLink>.
      </Check>
    )
  return (
    <Check state="done" title="A policy is active in production" isMandatory>
      <span className="mono strong">{policy.version}</span> since <Time at={policy.activated_at} />, with the checksum{' '}
      <CopyableId id={policy.checksum} short />
    </Check>
  )
}

function EndpointCheck({ evidence }: { evidence: Evidence }) {
  const { verified_endpoint: endpoint, endpoints_enabled } = evidence
  if (endpoint)
    return (
      <Check state="done" title="A webhook endpoint receives events">
        <PageLink to={`webhooks/${endpoint.endpoint_id}`}>{endpoint.url}</PageLink> accepted{' '}
        <code>{endpoint.event_type}</code> <Time at={endpoint.delivered_at} as="relative" />.
      </Check>
    )
  return (
    <Check state="warning" title="A webhook endpoint receives events">
      {endpoints_enabled === 0
        ? 'There is none in production. Your systems then learn of decisions only by asking. '
        : 'None has accepted an event yet. '}
      <PageLink to="webhooks">{endpoints_enabled === 0 ? 'Add an endpoint' : 'See the endpoints'}</PageLink>.
    </Check>
  )
}

function TestCheck({ test }: { test: Evidence['test_delivery'] }) {
  if (test)
    return (
      <Check state="done" title="A test delivery was received">
        <PageLink to={`webhooks/${test.endpoint_id}`}>{test.url}</PageLink> accepted{' '}
        <PageLink to="deliveries" search={{ event_id: test.event_id }}>
          the test
        </PageLink>{' '}
        on <Time at={test.delivered_at} />.
      </Check>
    )
  return (
    <Check state="warning" title="A test delivery was received">
      No endpoint of production has accepted a test. <PageLink to="webhooks">Send one</PageLink>.
    </Check>
  )
}

const MARKS = {
  done: { icon: <IconCircleCheckFilled size={18} className="text-ok" />, words: 'Done' },
  warning: { icon: <IconAlertTriangle size={18} className="text-review" />, words: 'Missing, not mandatory' },
  missing: { icon: <IconCircleX size={18} className="text-decline" />, words: 'Missing' },
}

function Check({
  state,
  title,
  isMandatory = false,
  children,
}: {
  state: keyof typeof MARKS
  title: string
  isMandatory?: boolean
  children: ReactNode
}) {
  const { icon, words } = MARKS[state]
  return (
    <li>
      {icon}
      <div className={classes.check}>
        <div>
          <span className="strong">{title}</span> <span className="visually-hidden">({words})</span>
          {isMandatory && <span className="small dim">mandatory</span>}
        </div>
        <div className={classes.evidence}>{children}</div>
      </div>
    </li>
  )
}
