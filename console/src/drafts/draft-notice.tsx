import { IconHistory } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Banner } from '../components/state-badge.tsx'
import { writeTime } from '../components/write-time.ts'
import classes from './draft-notice.module.css'
import type { Draft } from './use-draft.ts'

/** Says that the form holds what was typed before, or that an older draft is kept, and lets the person throw either away. */
export function DraftNotice({
  draft,
  says = 'It was not sent.',
}: {
  draft: Omit<Draft<unknown>, 'value' | 'change'>
  /** What is known of a draft that was not sent. */
  says?: string
}) {
  const { isKept, foundFromMs, isUnanswered, discard } = draft
  return (
    <>
      {isKept && foundFromMs !== undefined && (
        <Notice acts={<Act word="Discard" onClick={discard} />}>
          <b>Your draft of {writeMoment(foundFromMs)} is back.</b>{' '}
          {isUnanswered
            ? 'It was sent, but no answer came: it may have been done. Look at what the page shows before you send it again.'
            : says}
        </Notice>
      )}
      <OlderDraft draft={draft} />
    </>
  )
}

/** Offers what another tab or an earlier visit had typed, where the form no longer has it. */
export function OlderDraft({ draft: { older } }: { draft: Pick<Draft<unknown>, 'older'> }) {
  if (!older) return null
  return (
    <Notice
      acts={
        <>
          <Act word="Bring it back" onClick={older.bringBack} />
          <Act word="Discard the older draft" onClick={older.discard} />
        </>
      }
    >
      An older draft of {writeMoment(older.fromMs)} is kept, from another tab or an earlier visit.
    </Notice>
  )
}

function Notice({ acts, children }: { acts: ReactNode; children: ReactNode }) {
  return (
    <div role="status">
      <Banner
        tone="info"
        icon={<IconHistory size={16} stroke={1.75} />}
        action={<span className={classes.acts}>{acts}</span>}
      >
        {children}
      </Banner>
    </div>
  )
}

function Act({ word, onClick }: { word: string; onClick: () => void }) {
  return (
    <button type="button" className={classes.act} onClick={onClick}>
      {word}
    </button>
  )
}

function writeMoment(ms: number): string {
  return writeTime(new Date(ms).toISOString(), 'date-time')
}
