import { Button, Textarea } from '@mantine/core'
import type { FormEvent } from 'react'
import { useAct } from '../../api/use-operation.ts'
import { RetryLabel } from '../../components/retry-label.tsx'
import { Time } from '../../components/time.tsx'
import { DraftNotice } from '../../drafts/draft-notice.tsx'
import { useDraft } from '../../drafts/use-draft.ts'
import type { ShownCase } from './review-case.ts'
import classes from './review-queue.module.css'

/** The notes of a case, and a field for another one. */
export function CaseNotes({ shown: { id, notes }, mayWrite }: { shown: ShownCase; mayWrite: boolean }) {
  const draft = useDraft(`note ${id}`, '')
  const text = draft.value
  const add = useAct('cases.add-note')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') add.mutate({ id, text: text.trim() }, { draft })
  }
  return (
    <section>
      <h3>Notes</h3>
      {notes.length > 0 && (
        <ul className={classes.notes}>
          {notes.map((note) => (
            <li key={note.id}>
              <p>{note.text}</p>
              <span className="small dim">
                {note.by}, <Time at={note.at} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {notes.length === 0 && !mayWrite && <p className="dim">No note yet.</p>}
      {mayWrite && (
        <form onSubmit={submit} className={classes.noteForm}>
          <DraftNotice draft={draft} />
          <Textarea
            aria-label="Note"
            placeholder="For the next person who opens this case"
            autosize
            minRows={1}
            maxRows={4}
            maxLength={5_000}
            readOnly={add.isPending}
            value={text}
            onChange={(event) => draft.change(event.currentTarget.value)}
          />
          {text.trim() !== '' && (
            <Button type="submit" variant="default" size="xs" loading={add.isPending}>
              <RetryLabel isRetry={draft.isRetry}>Add note</RetryLabel>
            </Button>
          )}
        </form>
      )}
    </section>
  )
}
