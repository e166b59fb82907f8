import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconArrowRight, IconCopy, IconEye, IconNote, IconTrash, IconUsers } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { useAct } from '../../api/use-operation.ts'
import { Banner } from '../../components/state-badge.tsx'
import type { Draft } from '../../drafts/use-draft.ts'
import { KEYS } from '../../shell/shortcut-tables.ts'
import { KeyCap } from '../../shell/shortcuts.tsx'
import type { CaseAnswer } from './case-answer.ts'
import { type CaseConflict, onlyWaiting, requestsToShow } from './case-conflict.ts'
import { CaseFields } from './case-fields.tsx'
import { ConflictWords, textOf } from './conflict-words.tsx'
import type { ShownCase } from './review-case.ts'
import classes from './review-queue.module.css'

/** The longest note that a case takes. */
const NOTE_LENGTH_MAX = 5_000

/** What the conflict about a case needs. */
interface ConflictProps {
  shown: ShownCase
  conflict: CaseConflict
  me: string | undefined
  draft: Draft<CaseAnswer>
  /** Shows how the requests were decided. */
  onSee: () => void
  onNext: () => void
}

/** Says that a colleague was faster, and keeps what the reviewer had written, read only, until they act. */
export function Conflict({ shown, conflict, me, draft, onSee, onNext }: ConflictProps) {
  const banner = useRef<HTMLDivElement>(null)
  useEffect(() => banner.current?.focus(), [])
  return (
    <div className={classes.decide} data-read-only>
      <div ref={banner} role="alert" tabIndex={-1} className={classes.conflict}>
        <Banner tone="alert" icon={<IconUsers size={16} stroke={1.75} />}>
          <ConflictWords conflict={conflict} me={me} isUnanswered={draft.isUnanswered} />
        </Banner>
      </div>
      <Acts shown={shown} conflict={conflict} draft={draft} onSee={onSee} />
      <CaseFields
        requests={requestsToShow(shown, draft.value)}
        shown={shown}
        answer={draft.value}
        plan={{ totals: [] }}
        isSent={false}
        isReadOnly
        {...NO_CHANGE}
      />
      <div className={classes.decideEnd}>
        <span className="small dim">Your text is kept in this browser for seven days, or until you discard it.</span>
        <Button variant="default" rightSection={<KeyCap of={KEYS.nextCase} />} onClick={onNext}>
          Next case
        </Button>
      </div>
    </div>
  )
}

/** Nothing changes in fields that are read only. */
const NO_CHANGE = { onCurrent() {}, onVerdict() {}, onRequest() {}, onTotal() {}, onReason() {} }

function Acts({ shown, conflict, draft, onSee }: Omit<ConflictProps, 'me' | 'onNext'>) {
  const clipboard = useClipboard()
  const text = textOf(shown, draft.value)
  const fits = text.length <= NOTE_LENGTH_MAX
  const note = useAct('cases.add-note', {
    says: fits ? 'Your text is a note of the case now.' : 'The first 5,000 characters are a note of the case now.',
    onDone: () => fits && draft.discard(),
  })
  const isPartly = conflict.decided.length > 0 && conflict.waiting > 0 && !conflict.holder
  return (
    <div className={classes.conflictActs}>
      {conflict.decided.length > 0 && (
        <ActButton icon={<IconEye size={14} stroke={1.75} />} onClick={onSee}>
          See the decision
        </ActButton>
      )}
      {isPartly && (
        <ActButton
          icon={<IconArrowRight size={14} stroke={1.75} />}
          onClick={() => draft.change((written) => onlyWaiting(shown, written))}
        >
          Go on with what waits
        </ActButton>
      )}
      <ActButton
        icon={<IconNote size={14} stroke={1.75} />}
        isPending={note.isPending}
        // Another act than the review, so not under its key.
        onClick={() => note.mutate({ id: shown.id, text: text.slice(0, NOTE_LENGTH_MAX) })}
      >
        Keep mine as a note
      </ActButton>
      <ActButton icon={<IconCopy size={14} stroke={1.75} />} onClick={() => clipboard.copy(text)}>
        {clipboard.copied ? 'Copied' : 'Copy my text'}
      </ActButton>
      <ActButton icon={<IconTrash size={14} stroke={1.75} />} onClick={draft.discard}>
        Discard my text
      </ActButton>
    </div>
  )
}

function ActButton({
  icon,
  isPending = false,
  onClick,
  children,
}: {
  icon: ReactNode
  isPending?: boolean
  onClick: () => void
  children: ReactNode
}) {
  return (
    <Button variant="default" size="xs" leftSection={icon} loading={isPending} onClick={onClick}>
      {children}
    </Button>
  )
}
