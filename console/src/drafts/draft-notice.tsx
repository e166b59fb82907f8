import { IconHistory } from '@tabler/icons-react'
import { Banner } from '../components/state-badge.tsx'
import { writeTime } from '../components/time.tsx'
import classes from './draft-notice.module.css'
import type { Draft } from './use-draft.ts'

/** Says that the form holds what was typed before, and lets the person throw it away. */
export function DraftNotice({
  draft,
}: {
  draft: Pick<Draft<unknown>, 'isKept' | 'foundFromMs' | 'isUnanswered' | 'discard'>
}) {
  if (!draft.isKept || draft.foundFromMs === undefined) return null
  return (
    <div role="status">
      <Banner
        tone="info"
        icon={<IconHistory size={16} stroke={1.75} />}
        action={
          <button type="button" className={classes.discard} onClick={draft.discard}>
            Discard
          </button>
        }
      >
        <b>Your draft of {writeTime(new Date(draft.foundFromMs).toISOString(), 'date-time')} is back.</b>{' '}
        {draft.isUnanswered
          ? 'It was sent, but no answer came: it may have been done. Look at what the page shows before you send it again.'
          : 'It was not sent.'}
      </Banner>
    </div>
  )
}
