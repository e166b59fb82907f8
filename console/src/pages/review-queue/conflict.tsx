import { Button, Textarea } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCopy, IconNote, IconTrash, IconUsers } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { useAct } from '../../api/use-operation.ts'
import { Banner } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { writeMoney } from '../../components/write-number.ts'
import type { Draft } from '../../drafts/use-draft.ts'
import type { CaseAnswer } from './case-answer.ts'
import type { ShownCase } from './review-case.ts'
import classes from './review-queue.module.css'

/** The longest note that a case takes. */
const NOTE_LENGTH_MAX = 5_000

/** Says that a colleague was faster, and keeps what the reviewer had written until they act. */
export function Conflict({ shown, draft, onNext }: { shown: ShownCase; draft: Draft<CaseAnswer>; onNext: () => void }) {
  const banner = useRef<HTMLDivElement>(null)
  const clipboard = useClipboard()
  const note = useAct('cases.note', { says: 'Your text is a note of the case now.' })
  const text = textOf(shown, draft.value)
  useEffect(() => banner.current?.focus(), [])
  return (
    <div className={classes.decide}>
      <div ref={banner} role="alert" tabIndex={-1} className={classes.conflict}>
        <Banner tone="alert" icon={<IconUsers size={16} stroke={1.75} />}>
          <Faster shown={shown} />
        </Banner>
      </div>
      <Textarea
        label="What you wrote"
        description="It was not sent. It stays in this browser until you discard it."
        readOnly
        autosize
        minRows={2}
        maxRows={8}
        value={text}
      />
      <div className={classes.conflictActs}>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconNote size={14} stroke={1.75} />}
          loading={note.isPending}
          onClick={() => note.mutate({ id: shown.id, text: text.slice(0, NOTE_LENGTH_MAX) }, { draft })}
        >
          Keep mine as a note
        </Button>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconCopy size={14} stroke={1.75} />}
          onClick={() => clipboard.copy(text)}
        >
          {clipboard.copied ? 'Copied' : 'Copy my text'}
        </Button>
        <Button variant="default" size="xs" leftSection={<IconTrash size={14} stroke={1.75} />} onClick={draft.discard}>
          Discard my text
        </Button>
        <Button variant="default" size="xs" rightSection={<kbd>J</kbd>} onClick={onNext}>
          Next case
        </Button>
      </div>
    </div>
  )
}

function Faster({ shown: { end, assignee } }: { shown: ShownCase }) {
  if (!end)
    return (
      <b>
        {assignee?.name} took this case <Time at={assignee?.since ?? ''} as="relative" />; your text is kept.
      </b>
    )
  const did = end.verdict === 'decline' ? 'declined' : 'approved'
  return (
    <>
      <b>
        {end.by} decided this <Time at={end.at} as="relative" />, at <Time at={end.at} as="time" />; your text is kept.
      </b>
      <div>
        {end.by} {did}
        {end.limit && ` ${writeMoney(end.limit.amount, end.limit.currency)}`}: “{end.reason}” Your draft was not sent.
      </div>
    </>
  )
}

/** What the reviewer wrote, in words: the answers to the requests, then the reason. */
function textOf({ decisions }: ShownCase, { requests, reason }: CaseAnswer): string {
  const answers = decisions.flatMap(({ id, product, requested }) => {
    const answer = requests[id]
    if (!answer?.verdict) return []
    const asked = requested ? ` (${writeMoney(requested.amount, requested.currency)} asked)` : ''
    const said = [
      answer.verdict.replaceAll('_', ' '),
      answer.verdict !== 'decline' && answer.limit.trim() !== '' && `limit ${answer.limit.trim()}`,
      answer.verdict === 'approve_with_conditions' && answer.conditions.trim(),
    ]
    return [`${product.replaceAll('_', ' ')}${asked}: ${said.filter(Boolean).join(', ')}`]
  })
  return [...answers, reason.trim()].filter((line) => line !== '').join('\n')
}
