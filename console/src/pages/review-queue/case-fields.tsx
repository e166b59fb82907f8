import { Textarea } from '@mantine/core'
import type { ReactNode } from 'react'
import {
  answerTo,
  type CaseAnswer,
  type CasePlan,
  type RequestAnswer,
  type ReviewVerdict,
  type Total,
} from './case-answer.ts'
import { ConfirmTotal } from './confirm-total.tsx'
import { RequestAnswerFields } from './request-answer-fields.tsx'
import type { ShownCase, WaitingRequest } from './review-case.ts'
import classes from './review-queue.module.css'

/** What the fields of a case need. */
interface CaseFieldsProps {
  shown: Pick<ShownCase, 'bounds' | 'totals'>
  requests: readonly WaitingRequest[]
  answer: CaseAnswer
  /** What is unusual about the limits, so that the reason has to say why; nothing where it cannot be sent. */
  plan: Pick<CasePlan, 'unusual' | 'totals'>
  /** True once the form was sent: problems then show without leaving a field. */
  isSent: boolean
  /** While it is being sent, or cannot be. */
  isReadOnly: boolean
  /** The request that the keys are about. */
  currentId?: string
  /** Stands beside the number of requests. */
  hint?: ReactNode
  onCurrent: (id: string) => void
  onVerdict: (request: WaitingRequest, verdict: ReviewVerdict) => void
  onRequest: (request: WaitingRequest, changes: Partial<RequestAnswer>) => void
  onTotal: (total: Total, isMeant: boolean) => void
  onReason: (reason: string) => void
}

/** A verdict and a limit for each request of a case, and once there is a verdict the reason. */
export function CaseFields(props: CaseFieldsProps) {
  const { requests, shown, answer, plan, isSent, isReadOnly, currentId, hint } = props
  const { onCurrent, onVerdict, onRequest, onTotal } = props
  const many = requests.length
  const hasVerdict = requests.some((request) => answerTo(request, answer).verdict)
  return (
    <>
      {many > 1 && (
        <div className={classes.decideHead}>
          <h3>{many} requests, a verdict and a limit each</h3>
          {hint}
        </div>
      )}
      {requests.map((request, index) => (
        <RequestAnswerFields
          key={request.id}
          request={request}
          isSent={isSent}
          isReadOnly={isReadOnly}
          bounds={shown.bounds}
          number={many > 1 ? index + 1 : undefined}
          isCurrent={many > 1 && request.id === currentId}
          answer={answerTo(request, answer)}
          onCurrent={() => onCurrent(request.id)}
          onVerdict={(verdict) => onVerdict(request, verdict)}
          onChange={(changes) => onRequest(request, changes)}
        />
      ))}
      {plan.totals.map((total) => (
        <ConfirmTotal
          key={total.currency}
          shown={shown}
          answer={answer}
          isReadOnly={isReadOnly}
          total={total}
          onChange={onTotal}
        />
      ))}
      {(hasVerdict || answer.reason !== '') && <Reason {...props} />}
    </>
  )
}

function Reason({ plan, shown, answer: { reason }, isSent, isReadOnly, onReason }: CaseFieldsProps) {
  const { unusual } = plan
  const least = unusual ? shown.bounds.reason_characters_min : 1
  const why = unusual ? `Say why the limit is so ${unusual}, in at least ${least} characters.` : 'Write a reason.'
  const isShort = reason.trim().length < least
  return (
    <Textarea
      data-field="reason"
      label="Reason"
      description={unusual ? why : 'Goes into the review, whose hash is on the audit log.'}
      error={isSent && isShort ? why : undefined}
      required
      autosize
      minRows={2}
      maxRows={5}
      maxLength={5_000}
      readOnly={isReadOnly}
      value={reason}
      onChange={(event) => onReason(event.currentTarget.value)}
    />
  )
}
