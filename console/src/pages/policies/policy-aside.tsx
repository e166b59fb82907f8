import { Button, Textarea } from '@mantine/core'
import { IconCheck, IconCircleCheck, IconClock, IconX } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { isOutage } from '../../api/outage.ts'
import { usePermission } from '../../api/use-me.ts'
import { useAct } from '../../api/use-operation.ts'
import { Avatar } from '../../components/avatar.tsx'
import { ReasonField } from '../../components/reason-field.tsx'
import { RetryLabel } from '../../components/retry-label.tsx'
import { Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { AskReason } from '../../drafts/ask-reason.tsx'
import { DraftNotice } from '../../drafts/draft-notice.tsx'
import { useDraft } from '../../drafts/use-draft.ts'
import { roleName } from '../../shell/role-name.ts'
import classes from './policies.module.css'
import type { ShownPolicy } from './policy.ts'

/** The newest backtest of a policy. */
interface ShownBacktest {
  /** Null if there is none, undefined until that is known. */
  backtestId: string | null | undefined
  /** How many limits of the policy it breaks. */
  brokenLimits: number
}

/** What comes next for a policy, who may do it, what people said, and what was done. */
export function PolicyAside({ shown, ...backtest }: { shown: ShownPolicy } & ShownBacktest) {
  const { state } = shown.policy
  return (
    <aside className={classes.column}>
      {state === 'proposed' && <Approval shown={shown} {...backtest} />}
      {(state === 'approved' || state === 'retired') && <Activation shown={shown} />}
      <Comments shown={shown} />
      <History shown={shown} />
    </aside>
  )
}

function Approval({ shown, ...backtest }: { shown: ShownPolicy } & ShownBacktest) {
  const { policy, approvers } = shown
  return (
    <Section title="Approval">
      <ul className={classes.people}>
        {approvers.map(({ id, name, role, is_you, may_approve }) => (
          <li key={id}>
            <Avatar name={name} />
            <div className={classes.who}>
              <span className="strong">{name}</span> {is_you && <span className="dim">you</span>}
              <div className="small dim">{roleName(role)}</div>
            </div>
            {may_approve ? (
              <StateBadge outline icon={<IconClock />}>
                May approve
              </StateBadge>
            ) : (
              <span className="small dim">wrote it, may not</span>
            )}
          </li>
        ))}
      </ul>
      <ApprovalForm key={policy.version} shown={shown} {...backtest} />
    </Section>
  )
}

function ApprovalForm({ shown, backtestId, brokenLimits }: { shown: ShownPolicy } & ShownBacktest) {
  const { policy, approvers, tests } = shown
  const you = approvers.find(({ is_you }) => is_you)
  const mayReject = usePermission('reject policies')
  const draft = useDraft(`approve ${policy.version}`, '')
  const reason = draft.value
  const approve = useAct('policies.approve', {
    says: `${policy.version} is approved. It does not decide before it is activated.`,
  })
  const reject = useAct('policies.reject', { says: `${policy.version} is rejected.` })
  if (!you?.may_approve && !mayReject) return <p className="small dim">Another person has to approve it.</p>
  const passing = tests.filter(({ failures }) => failures.length === 0).length
  const version = policy.version
  const submit = (event: FormEvent) => {
    event.preventDefault()
    approve.mutate({ version, reason: reason.trim(), shown_backtest: backtestId ?? null }, { draft })
  }
  return (
    <form className={classes.form} onSubmit={submit}>
      <DraftNotice draft={draft} />
      <p className="small">
        You approve checksum <code>{policy.checksum.slice(0, 8)}</code>, {passing} of {tests.length} tests, and{' '}
        {backtestId ? 'the newest backtest' : <b>no backtest: run one first to see the effect</b>}.
      </p>
      {brokenLimits > 0 && (
        <p className="small">
          <b>
            It cannot be approved: its newest backtest breaks {brokenLimits === 1 ? 'a limit' : 'limits'} of the policy.
          </b>
        </p>
      )}
      <ReasonField
        label="Why?"
        description="Goes on the audit log with your name."
        rows={2}
        isReadOnly={approve.isPending || reject.isPending}
        value={reason}
        onChange={draft.change}
      />
      {you?.may_approve && (
        <Button
          type="submit"
          leftSection={<IconCheck size={16} stroke={1.75} />}
          loading={approve.isPending}
          disabled={reason.trim() === '' || backtestId === undefined || brokenLimits > 0}
        >
          <RetryLabel isRetry={draft.isRetry && isOutage(approve.error)}>{`Approve ${version}`}</RetryLabel>
        </Button>
      )}
      {mayReject && (
        <Button
          variant="default"
          leftSection={<IconX size={16} stroke={1.75} />}
          loading={reject.isPending}
          disabled={reason.trim() === ''}
          onClick={() => reject.mutate({ version, reason: reason.trim() }, { draft })}
        >
          <RetryLabel isRetry={draft.isRetry && isOutage(reject.error)}>Reject</RetryLabel>
        </Button>
      )}
      <p className="small dim">Approving does not activate. That is a step of its own.</p>
    </form>
  )
}

function Activation({ shown }: { shown: ShownPolicy }) {
  const { version, state } = shown.policy
  const mayActivate = usePermission('activate policies')
  const [isOpen, setIsOpen] = useState(false)
  const activate = useAct('policies.activate', {
    says: `${version} decides from now on.`,
    onDone: () => setIsOpen(false),
  })
  const isRollback = state === 'retired'
  const wasApproved = shown.steps.some(({ step }) => step === 'approved' || step === 'activated')
  const act = isRollback ? `Roll back to ${version}` : `Activate ${version}`
  return (
    <Section title={isRollback ? 'Roll back' : 'Activation'}>
      <p className="secondary">
        {shown.active_version
          ? `${shown.active_version} decides now, and is retired by this.`
          : 'No policy decides here now.'}
      </p>
      {mayActivate && wasApproved ? (
        <Button mt={12} fullWidth onClick={() => setIsOpen(true)}>
          {act}
        </Button>
      ) : (
        <p className="small dim">Owners, admins and policy approvers activate.</p>
      )}
      <AskReason
        opened={isOpen}
        onClose={() => setIsOpen(false)}
        title={act}
        explanation="Every request is decided by it within a second, on every node. Going back is one step."
        act={act}
        about={`activate ${version}`}
        sending={activate}
        onConfirm={(reason, draft) => activate.mutate({ version, reason }, { draft })}
      />
    </Section>
  )
}

function Comments({ shown: { comments, policy } }: { shown: ShownPolicy }) {
  const mayComment = usePermission('comment on policies')
  const draft = useDraft(`comment ${policy.version}`, '')
  const text = draft.value
  const comment = useAct('policies.comment')
  return (
    <Section title="Comments" sub={comments.length > 0 ? String(comments.length) : undefined}>
      {comments.length === 0 && <p className="dim">None yet.</p>}
      <ul className={classes.comments}>
        {comments.map(({ id, text: words, by, at }) => (
          <li key={id}>
            <Avatar name={by} />
            <div className={classes.who}>
              <span className="strong">{by}</span>{' '}
              <span className="small dim">
                <Time at={at} as="relative" />
              </span>
              <div className="secondary">{words}</div>
            </div>
          </li>
        ))}
      </ul>
      {mayComment && (
        <form
          className={classes.form}
          onSubmit={(event) => {
            event.preventDefault()
            comment.mutate({ version: policy.version, text: text.trim() }, { draft })
          }}
        >
          <DraftNotice draft={draft} />
          <Textarea
            label="Your comment"
            autosize
            minRows={2}
            maxRows={8}
            maxLength={4_000}
            readOnly={comment.isPending}
            value={text}
            onChange={(event) => draft.change(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={comment.isPending} disabled={text.trim() === ''}>
            <RetryLabel isRetry={draft.isRetry}>Comment</RetryLabel>
          </Button>
        </form>
      )}
    </Section>
  )
}

function History({ shown: { steps } }: { shown: ShownPolicy }) {
  return (
    <Section title="History">
      <ul className={classes.comments}>
        {steps.toReversed().map(({ step, by, at, reason }) => (
          <li key={`${step} ${at}`}>
            <IconCircleCheck size={18} stroke={1.75} className="dim" />
            <div className={classes.who}>
              <span className="strong">{step[0]!.toUpperCase() + step.slice(1)}</span> by {by}
              <div className="small dim">
                <Time at={at} />
              </div>
              <div className="small secondary">“{reason}”</div>
            </div>
          </li>
        ))}
      </ul>
    </Section>
  )
}
