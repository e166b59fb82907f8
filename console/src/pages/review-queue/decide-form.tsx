import { Button } from '@mantine/core'
import { IconSignature } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { isOutage } from '../../api/outage.ts'
import { useMembership } from '../../api/use-me.ts'
import { useAct } from '../../api/use-operation.ts'
import { FormError } from '../../components/form-error.tsx'
import { RetryLabel } from '../../components/retry-label.tsx'
import { Banner } from '../../components/state-badge.tsx'
import { DraftNotice } from '../../drafts/draft-notice.tsx'
import type { Draft } from '../../drafts/use-draft.ts'
import { IN_REVIEW_QUEUE, KEYS } from '../../shell/shortcut-tables.ts'
import { KeyCap } from '../../shell/shortcuts.tsx'
import { useShortcuts } from '../../shell/use-shortcuts.ts'
import {
  answerTo,
  type CaseAnswer,
  type CasePlan,
  planOf,
  type ReviewVerdict,
  withAnswer,
  withTotal,
} from './case-answer.ts'
import { CaseFields } from './case-fields.tsx'
import { actOf, doneOf } from './plan-words.ts'
import type { ShownCase, WaitingRequest } from './review-case.ts'
import classes from './review-queue.module.css'
import { beyondWords, namesOf, secondSigners } from './signatures.ts'

/**
 * Asks for a verdict and a limit for each request of a case and one reason, and decides it. A key chooses; only the button or
 * Ctrl Enter submits, and only while the button says what will be done.
 */
export function DecideForm({
  shown,
  draft,
  onDecided,
}: {
  shown: ShownCase
  draft: Draft<CaseAnswer>
  onDecided: () => void
}) {
  const { value: answer, change: setAnswer } = draft
  const [isSent, setSent] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const queries = useQueryClient()
  const me = useMembership()?.operator_id
  const plan = planOf(shown, answer, me)
  const decide = useAct('cases.decide', { showsErrors: true, says: doneOf(plan, shown.entity.name), onDone: onDecided })
  const isReadOnly = decide.isPending
  const { current, setCurrent, choose, chooseAll } = useChoice({ shown, answer, setAnswer, form, isReadOnly })
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    setSent(true)
    if (!plan.verdict || decide.isPending) return
    // A colleague was faster, or a request joined: the page then shows the case and the queue as they are now.
    decide.mutate(plan.verdict, {
      draft,
      onError: (error) => {
        if (!isOutage(error)) void queries.invalidateQueries()
      },
    })
  }
  return (
    <form ref={form} className={classes.decide} onSubmit={submit} onKeyDown={(event) => onFormKey(event, submit)}>
      <DraftNotice draft={draft} />
      <CaseFields
        requests={shown.requests}
        shown={shown}
        plan={plan}
        answer={answer}
        isSent={isSent}
        isReadOnly={isReadOnly}
        currentId={current.id}
        hint={
          <SameForAll isReady={answerTo(current, answer).verdict !== undefined && !isReadOnly} onSame={chooseAll} />
        }
        onCurrent={setCurrent}
        onVerdict={choose}
        onRequest={(request, changes) => setAnswer((written) => withAnswer(written, request, changes))}
        onTotal={(total, isMeant) => setAnswer((written) => withTotal(written, total, isMeant))}
        onReason={(reason) => setAnswer((written) => ({ ...written, reason }))}
      />
      {plan.requests.some(({ verdict }) => verdict) && (
        <>
          {plan.beyond.map((beyond) => (
            <Banner key={beyond.currency} tone="warn" icon={<IconSignature size={16} stroke={1.75} />}>
              <b>{beyondWords(beyond)}</b> You sign first; after you, the same has to be signed by{' '}
              {namesOf(secondSigners(shown, plan.requests, me))}.
            </Banner>
          ))}
          <FormError error={decide.error} />
          <DecideEnd plan={plan} draft={draft} decide={decide} />
        </>
      )}
    </form>
  )
}

/** The button that gives all requests the verdict of the current one. */
function SameForAll({ isReady, onSame }: { isReady: boolean; onSame: () => void }) {
  return (
    <Button
      variant="default"
      size="compact-sm"
      disabled={!isReady}
      rightSection={<KeyCap of={KEYS.sameForAll} />}
      onClick={onSame}
    >
      Same verdict for all
    </Button>
  )
}

/** What becomes of the text, and the button that says what it does. */
function DecideEnd({
  plan,
  draft,
  decide,
}: {
  plan: CasePlan
  draft: Draft<CaseAnswer>
  decide: { isPending: boolean }
}) {
  return (
    <div className={classes.decideEnd}>
      <span className="small dim">
        {draft.isKept && <>Draft kept in this browser. </>}
        Goes on the audit log with your name.
      </span>
      <Button
        type="submit"
        data-disabled={!plan.verdict || undefined}
        aria-disabled={!plan.verdict}
        loading={decide.isPending}
        rightSection={plan.verdict && <KeyCap of={KEYS.submit} />}
        data-danger={plan.requests.every(({ verdict }) => verdict === 'decline') || undefined}
      >
        <RetryLabel isRetry={draft.isRetry}>{actOf(plan)}</RetryLabel>
      </Button>
    </div>
  )
}

/** Which request the keys are about, and what they do: a verdict moves the focus to what it needs next. */
function useChoice({
  shown: { requests },
  answer,
  setAnswer,
  form,
  isReadOnly,
}: {
  shown: ShownCase
  answer: CaseAnswer
  setAnswer: (change: (written: CaseAnswer) => CaseAnswer) => void
  form: React.RefObject<HTMLFormElement | null>
  isReadOnly: boolean
}) {
  const [currentId, setCurrent] = useState<string>()
  const [focusOn, setFocusOn] = useState<{ field: string }>()
  const current = requests.find(({ id }) => id === currentId) ?? requests[0]!
  useEffect(() => {
    const field = focusOn && form.current?.querySelector<HTMLInputElement>(`[data-field="${focusOn.field}"]`)
    field?.focus()
    if (field instanceof HTMLInputElement) field.select()
  }, [focusOn, form])
  const choose = (request: WaitingRequest, verdict: ReviewVerdict) => {
    setAnswer((written) => withAnswer(written, request, { verdict }))
    const open = requests.find((other) => other.id !== request.id && !answerTo(other, answer).verdict)
    setCurrent(verdict === 'decline' && open ? open.id : request.id)
    if (verdict === 'approve_with_conditions') setFocusOn({ field: `conditions ${request.id}` })
    else if (verdict === 'approve' && request.requested) setFocusOn({ field: `limit ${request.id}` })
    // While another request has no verdict, the next key chooses it.
    else if (!open) setFocusOn({ field: 'reason' })
  }
  const chooseAll = () => {
    const { verdict } = answerTo(current, answer)
    if (verdict)
      setAnswer((written) => requests.reduce((all, request) => withAnswer(all, request, { verdict }), written))
  }
  const keys = {
    [KEYS.approve]: () => choose(current, 'approve'),
    [KEYS.approve_with_conditions]: () => choose(current, 'approve_with_conditions'),
    [KEYS.decline]: () => choose(current, 'decline'),
    [KEYS.sameForAll]: chooseAll,
    ...Object.fromEntries(requests.slice(0, 9).map(({ id }, index) => [String(index + 1), () => setCurrent(id)])),
  }
  useShortcuts(IN_REVIEW_QUEUE, isReadOnly ? {} : keys)
  return { current, setCurrent, choose, chooseAll }
}

/** Ctrl Enter submits from any field, Enter alone from none; Esc leaves the field, so that the keys of the queue work again. */
function onFormKey(event: KeyboardEvent, submit: () => void): void {
  const isShortcut = event.metaKey || event.ctrlKey
  if (event.key === 'Enter' && (isShortcut || event.target instanceof HTMLInputElement)) {
    event.preventDefault()
    if (isShortcut) submit()
  }
  if (event.key === 'Escape') {
    event.stopPropagation()
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  }
}
