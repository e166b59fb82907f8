import { Checkbox, Textarea, UnstyledButton } from '@mantine/core'
import { IconAlertTriangle, IconBan, IconCircleCheck, IconListCheck } from '@tabler/icons-react'
import { CopyableId } from '../../components/copyable-id.tsx'
import { MoneyField } from '../../components/money/money-field.tsx'
import { Banner } from '../../components/state-badge.tsx'
import { writeCount, writeMoney } from '../../components/write-number.ts'
import { excessOf, limitOf, type RequestAnswer, type ReviewVerdict } from './case-answer.ts'
import { aboveWords, besideAsked } from './plan-words.ts'
import type { WaitingRequest } from './review-case.ts'
import classes from './review-queue.module.css'

const CHOICES = [
  { verdict: 'approve', word: 'Approve', key: 'A', icon: IconCircleCheck },
  { verdict: 'approve_with_conditions', word: 'Conditions', key: 'C', icon: IconListCheck },
  { verdict: 'decline', word: 'Decline', key: 'D', icon: IconBan },
] as const

/** What the fields of one request need. */
interface RequestAnswerProps {
  request: WaitingRequest
  /** Its number among several requests of the case. */
  number: number | undefined
  /** Whether the keys are about it. */
  isCurrent: boolean
  answer: RequestAnswer
  isSent: boolean
  /** While it is being sent, or cannot be. */
  isReadOnly: boolean
  /** Limits of more than so many times what was asked are refused. */
  refusedTimes: number
  onCurrent: () => void
  onVerdict: (verdict: ReviewVerdict) => void
  onChange: (changes: Partial<RequestAnswer>) => void
}

/** One request of a case: its verdict, and with an approval its conditions and its limit. */
export function RequestAnswerFields(props: RequestAnswerProps) {
  const { request, number, isCurrent, answer, isSent, isReadOnly, onCurrent, onVerdict, onChange } = props
  const { verdict } = answer
  const product = request.product.replaceAll('_', ' ')
  return (
    <fieldset
      className={classes.request}
      data-alone={number === undefined || undefined}
      data-current={isCurrent || undefined}
      onFocus={onCurrent}
    >
      <legend className={number === undefined ? 'visually-hidden' : classes.requestName}>
        {number === undefined
          ? `Your decision on ${product}`
          : `${number}. ${product[0]?.toUpperCase()}${product.slice(1)}`}
      </legend>
      <div className={classes.requestHead}>
        {number !== undefined && <CopyableId id={request.id} short />}
        <AskedWords request={request} />
      </div>
      <div className={classes.choices}>
        {CHOICES.map(({ verdict: choice, word, key, icon: Icon }) => (
          <UnstyledButton
            key={choice}
            type="button"
            className={classes.choice}
            data-verdict={choice}
            aria-pressed={verdict === choice}
            disabled={isReadOnly}
            onClick={() => onVerdict(choice)}
          >
            <Icon size={16} stroke={1.75} aria-hidden="true" />
            {word} <kbd>{key}</kbd>
          </UnstyledButton>
        ))}
      </div>
      {verdict === 'approve_with_conditions' && (
        <Textarea
          data-field={`conditions ${request.id}`}
          label="Conditions"
          description="What the applicant has to do first, one on each line."
          error={isSent && answer.conditions.trim() === '' ? 'Write at least one condition.' : undefined}
          required
          autosize
          minRows={1}
          maxRows={4}
          maxLength={2_000}
          readOnly={isReadOnly}
          value={answer.conditions}
          onChange={(event) => onChange({ conditions: event.currentTarget.value })}
        />
      )}
      {verdict !== undefined && verdict !== 'decline' && request.requested && (
        <LimitField {...props} currency={request.requested.currency} />
      )}
    </fieldset>
  )
}

function AskedWords({ request: { requested, could_lend } }: { request: WaitingRequest }) {
  if (!requested) return <span className="secondary">Access, without a limit</span>
  const lend = could_lend && writeMoney(could_lend.amount, could_lend.currency)
  return (
    <span className="num">
      <b>{writeMoney(requested.amount, requested.currency)}</b>{' '}
      <span className="secondary">asked{lend === null ? '' : ` · could lend ${lend}`}</span>
    </span>
  )
}

function LimitField({
  request,
  answer,
  isSent,
  isReadOnly,
  refusedTimes,
  onChange,
  currency,
}: RequestAnswerProps & { currency: string }) {
  const reading = limitOf(request, answer)
  const limit = reading.kind === 'amount' ? reading.amount : undefined
  const excess = limit === undefined ? 'none' : excessOf(request, limit)
  return (
    <>
      <MoneyField
        data-field={`limit ${request.id}`}
        label={`Limit in ${currency}`}
        currency={currency}
        whenEmpty="Write a limit."
        isSent={isSent}
        readOnly={isReadOnly}
        text={answer.limit}
        onText={(text) => onChange({ limit: text })}
        comment={limit === undefined ? undefined : besideAsked(limit, request)}
      />
      {limit !== undefined && excess !== 'none' && (
        <Banner tone="warn" icon={<IconAlertTriangle size={16} stroke={1.75} />}>
          {aboveWords(limit, request)}{' '}
          {excess === 'refuse' ? (
            `Your organization refuses limits of more than ${writeCount(refusedTimes)} times what was asked.`
          ) : (
            <>
              Correct it, or say why in the reason.
              <Checkbox
                className={classes.confirm}
                label={`Yes, I mean ${writeMoney(limit, currency)}`}
                disabled={isReadOnly}
                checked={answer.confirmedLimit === answer.limit}
                onChange={(event) =>
                  onChange({ confirmedLimit: event.currentTarget.checked ? answer.limit : undefined })
                }
              />
            </>
          )}
        </Banner>
      )}
    </>
  )
}
