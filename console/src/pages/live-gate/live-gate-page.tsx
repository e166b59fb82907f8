import { Button, Skeleton } from '@mantine/core'
import { IconLock, IconLockOpen, IconPlayerStop } from '@tabler/icons-react'
import { useState } from 'react'
import { useAct, useOperation } from '../../api/use-operation.ts'
import { pathIn, usePlace } from '../../api/use-place.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { Failed } from '../../components/failed.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PageLink, PathLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { Banner, StateBadge } from '../../components/state-badge.tsx'
import { ConfirmByTyping } from '../../drafts/confirm-by-typing.tsx'
import { Approvals } from './approvals.tsx'
import { Checklist, type Gate } from './checklist.tsx'
import classes from './live-gate.module.css'

const TITLE = 'Live gate'

/** The page on which two operators let production decide, and one stops it. */
export function LiveGatePage() {
  const { environment } = usePlace()
  return environment === 'sandbox' ? <SandboxExplanation /> : <ProductionGate />
}

function SandboxExplanation() {
  const place = usePlace()
  return (
    <>
      <PageHeader title={TITLE} />
      <Section flush>
        <EmptyState
          title="The sandbox has no gate"
          actions={
            <Button component={PathLink} path={pathIn({ ...place, environment: 'production' }, 'live-gate')}>
              Open the gate of production
            </Button>
          }
        >
          Here decisions are made at once, because they concern no real person. In production two operators have to
          approve first, and one can stop it.
        </EmptyState>
      </Section>
    </>
  )
}

function ProductionGate() {
  const query = useOperation('live-gate.show', {}, { refetchIntervalMs: 10_000 })
  const [isStopping, setIsStopping] = useState(false)
  const close = useAct('live-gate.close', {
    says: 'The live gate is closed.',
    onDone: () => setIsStopping(false),
  })
  const gate = query.data
  if (query.error && !gate)
    return (
      <>
        <PageHeader title={TITLE} />
        <Failed error={query.error} onRetry={query.refetch} />
      </>
    )
  if (!gate)
    return (
      <>
        <PageHeader title={TITLE} />
        <Skeleton height={180} />
      </>
    )
  const canStop = gate.you.may_act && gate.approvals.length > 0
  return (
    <>
      <PageHeader
        title={TITLE}
        badge={<GateBadge gate={gate} />}
        below="Production underwrites only while two operators vouch for it."
      >
        {canStop && (
          <Button
            data-danger
            leftSection={<IconPlayerStop size={16} stroke={1.75} />}
            onClick={() => setIsStopping(true)}
          >
            {gate.open ? 'Stop underwriting' : 'Withdraw approvals'}
          </Button>
        )}
      </PageHeader>
      <Verdict gate={gate} />
      <div className={classes.columns}>
        <Checklist evidence={gate.evidence} />
        <Approvals gate={gate} />
      </div>
      <ConfirmByTyping
        opened={isStopping}
        onClose={() => setIsStopping(false)}
        title={gate.open ? 'Stop underwriting in production' : 'Withdraw all approvals'}
        word="close"
        act={gate.open ? 'Stop underwriting now' : 'Withdraw approvals'}
        about="close the gate"
        sending={close}
        onConfirm={(reason, draft) => close.mutate({ reason }, { draft })}
      >
        {gate.open
          ? 'Every request to underwrite in production is refused within a second, on every node. All approvals are withdrawn: opening the gate again takes two operators.'
          : 'The approvals so far no longer count. Opening the gate then takes two operators again.'}
      </ConfirmByTyping>
    </>
  )
}

function GateBadge({ gate }: { gate: Gate }) {
  return gate.open ? (
    <StateBadge tone="ok" icon={<IconLockOpen />}>
      Open
    </StateBadge>
  ) : (
    <StateBadge tone="warn" icon={<IconLock />}>
      Closed
    </StateBadge>
  )
}

function Verdict({ gate }: { gate: Gate }) {
  const { organizationId } = usePlace()
  const log = (
    <PageLink to="audit-log" search={{ target: organizationId }}>
      the audit log
    </PageLink>
  )
  return gate.open ? (
    <Banner tone="ok" icon={<IconLockOpen size={16} stroke={1.75} />}>
      <p>
        <span className="strong">Production decides.</span> {gate.approvals.map(({ name }) => name).join(' and ')}{' '}
        approved it; every step is on {log}.
      </p>
    </Banner>
  ) : (
    <Banner tone="warn" icon={<IconLock size={16} stroke={1.75} />}>
      <p>
        <span className="strong">Production refuses to underwrite</span> with the code{' '}
        <code>live_underwriting_not_enabled</code>: {gate.approvals.length} of {gate.approvals_needed} approvals. Every
        step is on {log}.
      </p>
    </Banner>
  )
}
