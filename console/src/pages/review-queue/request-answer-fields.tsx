import { Checkbox, Textarea, UnstyledButton } from '@mantine/core'
import { IconAlertTriangle, IconBan, IconCircleCheck, IconListCheck } from '@tabler/icons-react'
import { REVIEW_VERDICTS } from '../../../../server/src/core/vocabularies.ts'
import { CopyableId } from '../../components/copyable-id.tsx'
import { MoneyField } from '../../components/money/money-field.tsx'
import { currentNotation } from '../../components/money/number-notation.ts'
import { Banner } from '../../components/state-badge.tsx'
import { writeCount, writeMoney } from '../../components/write-number.ts'
import { KEYS } from '../../shell/shortcut-tables.ts'
import { KeyCap } from '../../shell/shortcuts.tsx'
import { conditionsProblem, limitOf, type RequestAnswer, type ReviewVerdict, standingOf } from './case-answer.ts'
import { besideAsked, unusualWords } from './plan-words.ts'
import type { ShownCase, WaitingRequest } from './review-case.ts'
import classes from './review-queue.module.css'

const CHOICES: Readonly<Record<ReviewVerdict, { word: string; icon: typeof IconBan }>> = {
  approve: { word: 'Approve', icon: IconCircleCheck },
  approve_with_conditions: { word: 'Conditions', icon: IconListCheck },
  decline: { word: 'Decline', icon: IconBan },
}

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
  bounds: ShownCase['bounds']
  onCurrent: () => void
  onVerdict: (verdict: ReviewVerdict) => void
  onChange: (changes: Partial<RequestAnswer>) => void
}

/** One request of a case: its verdict, and with an approval its conditions and its limit. */
export function RequestAnswerFields(props: RequestAnswerProps) {
  const { request, number, isCurrent, answer, isReadOnly, onCurrent, onVerdict } = props
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
        {REVIEW_VERDICTS.map((choice) => {
          const { word, icon: Icon } = CHOICES[choice]
          return (
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
              {word} <KeyCap of={KEYS[choice]} />
            </UnstyledButton>
          )
        })}
      </div>
      {verdict === 'approve_with_conditions' && <ConditionsField {...props} />}
      {verdict !== undefined && verdict !== 'decline' && request.requested && (
        <LimitField {...props} currency={request.requested.currency} />
      )}
    </fieldset>
  )
}

function ConditionsField({ request, answer, isSent, isReadOnly, bounds, onChange }: RequestAnswerProps) {
  const { conditions_max: most, condition_characters_max: longest } = bounds
  const problem = conditionsProblem(answer.conditions, bounds)
  // Nothing written is no problem yet; too much is one at once, while the text is at hand.
  const isShown = isSent || answer.conditions.trim() !== ''
  return (
    <Textarea
      data-field={`conditions ${request.id}`}
      label="Conditions"
      description={`What the applicant has to do first, one on each line: at most ${writeCount(most)}, of ${writeCount(longest)} characters each.`}
      error={isShown ? problem?.why : undefined}
      required
      autosize
      minRows={1}
      maxRows={4}
      readOnly={isReadOnly}
      value={answer.conditions}
      onChange={(event) => onChange({ conditions: event.currentTarget.value })}
    />
  )
}

function AskedWords({ request: { requested, could_lend, taken_since } }: { request: WaitingRequest }) {
  if (!requested) return <span className="secondary">Access, without a limit</span>
  const lend = could_lend && writeMoney(could_lend.amount, could_lend.currency)
  return (
    <span className="num">
      <b>{writeMoney(requested.amount, requested.currency)}</b>{' '}
      <span className="secondary">
        asked{lend === null ? '' : ` · could lend ${lend}`}
        {taken_since > 0 && `, less the ${writeMoney(taken_since, requested.currency)} offered or paid out since`}
      </span>
    </span>
  )
}

function LimitField({
  request,
  answer,
  isSent,
  isReadOnly,
  bounds,
  onChange,
  currency,
}: RequestAnswerProps & { currency: string }) {
  const reading = limitOf(request, answer)
  const limit = reading.kind === 'amount' ? reading.amount : undefined
  const standing = limit === undefined ? 'within' : standingOf(request, limit)
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
        onText={(text) => onChange({ limit: text, notation: currentNotation() })}
        comment={limit === undefined ? undefined : besideAsked(limit, request)}
      />
      {limit !== undefined && standing !== 'within' && (
        <Banner tone="warn" icon={<IconAlertTriangle size={16} stroke={1.75} />}>
          {unusualWords(limit, request)}{' '}
          {standing === 'refused' ? (
            `Your organization refuses limits of more than ${writeCount(bounds.refuse_above_times)} times what was asked.`
          ) : (
            <>
              Correct it, or say why in the reason.
              <Checkbox
                className={classes.confirm}
                label={`Yes, I mean ${writeMoney(limit, currency)}`}
                disabled={isReadOnly}
                checked={answer.confirmedLimit === limit}
                onChange={(event) => onChange({ confirmedLimit: event.currentTarget.checked ? limit : undefined })}
              />
            </>
          )}
        </Banner>
      )}
    </>
  )
}
