import { Button } from '@mantine/core'
import { IconCheck, IconClock } from '@tabler/icons-react'
import type { FormEvent } from 'react'
import { useMembership } from '../../api/use-me.ts'
import { useAct } from '../../api/use-operation.ts'
import { Avatar } from '../../components/avatar.tsx'
import { ReasonField } from '../../components/reason-field.tsx'
import { RetryLabel } from '../../components/retry-label.tsx'
import { Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { DraftNotice } from '../../drafts/draft-notice.tsx'
import { useDraft } from '../../drafts/use-draft.ts'
import { roleName } from '../../shell/role-name.ts'
import type { Gate } from './checklist.tsx'
import classes from './live-gate.module.css'

/** Who approved and who still may, and the form of the caller's own approval. */
export function Approvals({ gate }: { gate: Gate }) {
  const you = useMembership()?.operator_id
  const given = new Map(gate.approvals.map((approval) => [approval.operator_id, approval]))
  const waiting = gate.evidence.approvers.filter(({ operator_id }) => !given.has(operator_id))
  return (
    <Section title="Approvals" end={`${gate.approvals.length} of ${gate.approvals_needed}`}>
      <ul className={classes.approvers}>
        {gate.approvals.map(({ operator_id, name, reason, approved_at, ...introduction }) => (
          <li key={operator_id}>
            <Avatar name={name} />
            <div className={classes.who}>
              <span className="strong">{name}</span> {operator_id === you && <span className="dim">you</span>}
              <div className="small secondary">“{reason}”</div>
              <div className="small dim">
                <Time at={approved_at} />
              </div>
              <Introduced {...introduction} />
            </div>
            <StateBadge tone="ok" icon={<IconCheck />}>
              Approved
            </StateBadge>
          </li>
        ))}
        {!gate.open &&
          waiting.map(({ operator_id, name, role }) => (
            <li key={operator_id}>
              <Avatar name={name} />
              <div className={classes.who}>
                <span className="strong">{name}</span> {operator_id === you && <span className="dim">you</span>}
                <div className="small dim">{roleName(role)}</div>
              </div>
              <StateBadge outline icon={<IconClock />}>
                May approve
              </StateBadge>
            </li>
          ))}
      </ul>
      <YourApproval gate={gate} />
    </Section>
  )
}

/** Who vouches for an approver, so that a reader notices a second name that one person made up. */
function Introduced({
  invited_by,
  invited_at,
  joined_at,
}: Pick<Gate['approvals'][number], 'invited_by' | 'invited_at' | 'joined_at'>) {
  if (!invited_by && !joined_at) return null
  return (
    <div className="small dim">
      {invited_by && invited_at && (
        <>
          invited by {writeInviter(invited_by)} on <Time at={invited_at} as="date" />
        </>
      )}
      {invited_by && joined_at && ', '}
      {joined_at && (
        <>
          joined on <Time at={joined_at} />
        </>
      )}
    </div>
  )
}

function writeInviter({ type, name }: { type: string; name: string }): string {
  return type === 'os_user' ? `${name} at the command line` : name
}

function YourApproval({ gate }: { gate: Gate }) {
  const draft = useDraft('approve the gate', '')
  const reason = draft.value
  const approve = useAct('live-gate.approve', {
    says: ({ open }) =>
      open ? 'The live gate is open: production decides.' : 'Approved. Another operator has to approve as well.',
  })
  if (gate.open) return null
  if (!gate.you.may_act) return <p className="small dim">Only owners and admins approve.</p>
  if (gate.you.has_approved)
    return <p className="small dim">You approved. Another owner or admin has to give the second approval.</p>
  if (!gate.evidence.policy)
    return <p className="small dim">Approvals are refused until a policy is active in production.</p>
  const submit = (event: FormEvent) => {
    event.preventDefault()
    approve.mutate({ reason: reason.trim() }, { draft })
  }
  return (
    <form className={classes.form} onSubmit={submit}>
      <DraftNotice draft={draft} />
      <ReasonField
        label="Why do you approve?"
        description="Goes on the audit log with your name."
        rows={2}
        isReadOnly={approve.isPending}
        value={reason}
        onChange={draft.change}
      />
      <Button
        type="submit"
        leftSection={<IconCheck size={16} stroke={1.75} />}
        loading={approve.isPending}
        disabled={reason.trim() === ''}
      >
        <RetryLabel isRetry={draft.isRetry}>
          {gate.approvals.length + 1 >= gate.approvals_needed ? 'Approve and open the gate' : 'Approve'}
        </RetryLabel>
      </Button>
    </form>
  )
}
