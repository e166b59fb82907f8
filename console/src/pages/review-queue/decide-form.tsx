import { Button, NumberInput, Textarea, UnstyledButton } from '@mantine/core'
import { IconBan, IconCircleCheck, IconListCheck } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useAct } from '../../api/use-operation.ts'
import { FormError } from '../../components/form-error.tsx'
import { writeMoney } from '../../components/write-number.ts'
import { MOD_KEY } from '../../shell/shortcuts.tsx'
import type { ShownCase } from './review-case.ts'
import classes from './review-queue.module.css'

const CHOICES = [
  { verdict: 'approve', word: 'Approve', key: 'A', icon: IconCircleCheck },
  { verdict: 'approve_with_conditions', word: 'Conditions', key: 'C', icon: IconListCheck },
  { verdict: 'decline', word: 'Decline', key: 'D', icon: IconBan },
] as const

/** A verdict of a reviewer. */
export type ReviewVerdict = (typeof CHOICES)[number]['verdict']

/** What the form needs from its case. */
interface DecideFormProps {
  shown: ShownCase
  chosen: ReviewVerdict | undefined
  onChoose: (verdict: ReviewVerdict | undefined) => void
  onDecided: () => void
}

/** What the reviewer has written so far. */
interface Draft {
  reason: string
  condition: string
  /** Undefined while the reviewer has to say it: the policy's terms leave nothing. */
  amount: number | undefined
}

/** Chooses a verdict, asks for the reason, and decides the case. A key chooses; only the button or Ctrl Enter submits. */
export function DecideForm({ shown, chosen, onChoose, onDecided }: DecideFormProps) {
  const [draft, setDraft] = useState<Draft>(() => ({ reason: '', condition: '', amount: limitToOffer(shown) }))
  const queries = useQueryClient()
  const decide = useAct('cases.decide', {
    showsErrors: true,
    says: (_, { verdict }) => `${verdict === 'decline' ? 'Declined' : 'Approved'} ${shown.entity.name}.`,
    onDone: () => {
      onChoose(undefined)
      onDecided()
    },
  })
  const verdict = verdictOf(shown, chosen, draft)
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    if (!verdict || decide.isPending) return
    // A colleague was faster, or a decision joined: the page then shows the case and the queue as they are now.
    decide.mutate(verdict, { onError: () => void queries.invalidateQueries() })
  }
  return (
    <form className={classes.decide} onSubmit={submit} onKeyDown={(event) => onFormKey(event, submit)}>
      <Choices chosen={chosen} onChoose={onChoose} />
      {chosen !== undefined && (
        <>
          <DraftFields shown={shown} chosen={chosen} draft={draft} onChange={setDraft} />
          <FormError error={decide.error} />
          <div className={classes.decideEnd}>
            <span className="small dim">Then the next case</span>
            <Button
              type="submit"
              disabled={!verdict}
              loading={decide.isPending}
              rightSection={<kbd>{MOD_KEY} ↵</kbd>}
              data-danger={chosen === 'decline' || undefined}
            >
              {actOf(chosen, limitOf(shown, chosen, draft))}
            </Button>
          </div>
        </>
      )}
    </form>
  )
}

function DraftFields({
  shown,
  chosen,
  draft,
  onChange,
}: {
  shown: ShownCase
  chosen: ReviewVerdict
  draft: Draft
  onChange: (draft: Draft) => void
}) {
  const firstField = useFocusOnChoice(chosen)
  const needsCondition = chosen === 'approve_with_conditions'
  const asked = shown.decision.requested
  return (
    <>
      {needsCondition && (
        <Textarea
          ref={firstField}
          label="Conditions"
          description="What the applicant has to do first, one on each line."
          required
          autosize
          minRows={1}
          maxRows={4}
          maxLength={2_000}
          value={draft.condition}
          onChange={(event) => onChange({ ...draft, condition: event.currentTarget.value })}
        />
      )}
      {asked && chosen !== 'decline' && (
        <NumberInput
          label={`Limit in ${asked.currency}`}
          description={limitWords(shown)}
          required
          value={draft.amount ?? ''}
          min={0}
          thousandSeparator=","
          hideControls
          onChange={(value) => onChange({ ...draft, amount: Number(value) || undefined })}
        />
      )}
      <Textarea
        {...(!needsCondition && { ref: firstField })}
        label="Reason"
        description="Goes into the review, whose hash is on the audit log."
        required
        autosize
        minRows={2}
        maxRows={5}
        maxLength={5_000}
        value={draft.reason}
        onChange={(event) => onChange({ ...draft, reason: event.currentTarget.value })}
      />
    </>
  )
}

/** What is sent; undefined while something that it needs is missing. */
function verdictOf(shown: ShownCase, verdict: ReviewVerdict | undefined, draft: Draft) {
  const needsCondition = verdict === 'approve_with_conditions'
  const conditions = linesOf(draft.condition)
  const needsLimit = shown.decision.requested !== null && verdict !== 'decline'
  if (!verdict || draft.reason.trim() === '' || (needsCondition && conditions.length === 0)) return undefined
  if (needsLimit && !draft.amount) return undefined
  return {
    id: shown.id,
    decision_id: shown.decision.id,
    verdict,
    reason: draft.reason.trim(),
    ...(needsCondition && { conditions }),
    ...(needsLimit && draft.amount && { recommended_limit: draft.amount }),
  }
}

/** The limit in words, of an approval of credit. */
function limitOf({ decision: { requested } }: ShownCase, verdict: ReviewVerdict, { amount }: Draft): string {
  return requested && verdict !== 'decline' && amount ? writeMoney(amount, requested.currency) : ''
}

function Choices({ chosen, onChoose }: Pick<DecideFormProps, 'chosen' | 'onChoose'>) {
  return (
    <fieldset className={classes.choices}>
      <legend className="visually-hidden">Your decision</legend>
      {CHOICES.map(({ verdict, word, key, icon: Icon }) => (
        <UnstyledButton
          key={verdict}
          type="button"
          className={classes.choice}
          data-verdict={verdict}
          aria-pressed={chosen === verdict}
          onClick={() => onChoose(verdict)}
        >
          <Icon size={16} stroke={1.75} aria-hidden="true" />
          {word} <kbd>{key}</kbd>
        </UnstyledButton>
      ))}
    </fieldset>
  )
}

/** Puts the focus on the first field of the form whenever a verdict is chosen. */
function useFocusOnChoice(chosen: ReviewVerdict | undefined) {
  const firstField = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (chosen) firstField.current?.focus()
  }, [chosen])
  return firstField
}

/** Ctrl Enter submits from any field; Esc leaves the field, so that the keys of the queue work again. */
function onFormKey(event: KeyboardEvent, submit: () => void): void {
  if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
    event.preventDefault()
    submit()
  }
  if (event.key === 'Escape') {
    event.stopPropagation()
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  }
}

/** What the policy could lend, or what was asked for if that is not known; nothing where its terms leave nothing. */
function limitToOffer({ figures: { could_lend: lend }, decision: { requested } }: ShownCase): number | undefined {
  return (lend ? lend.amount : requested?.amount) || undefined
}

/** What the policy could lend of what was asked for, above the field that the reviewer fills. */
function limitWords({ figures: { could_lend: lend }, decision: { requested } }: ShownCase): string {
  const asked = requested ? `${writeMoney(requested.amount, requested.currency)} asked` : ''
  if (!lend) return asked
  return lend.amount > 0
    ? `${asked}, the policy could lend ${writeMoney(lend.amount, lend.currency)}`
    : `${asked}, the terms of the policy leave nothing`
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function actOf(verdict: ReviewVerdict, amount: string): string {
  if (verdict === 'decline') return 'Decline'
  const what = amount ? `Approve ${amount}` : 'Approve'
  return verdict === 'approve_with_conditions' ? `${what} with conditions` : what
}
