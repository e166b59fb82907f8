import { type AuditEntry, actorName } from '../../components/audit-entry.ts'
import { CopyableId } from '../../components/copyable-id.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { KeyValues } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { writeCount } from '../../components/write-number.ts'
import classes from './audit-log-page.module.css'
import { type Change, changesOf } from './entry-changes.ts'

/** Everything about one entry: who, what about, the proof, and its data with what was before. */
export function EntryDetail({ entry }: { entry: AuditEntry }) {
  const { actor, subject, request_id, trail_id, leaf_index, leaf_hash } = entry
  return (
    <div className={classes.detail}>
      <div>
        <h2>Who and what</h2>
        <KeyValues
          rows={[
            ['Entry', <CopyableId key="id" id={entry.id} />],
            ['When', <Time key="at" at={entry.occurred_at} />],
            [
              'By',
              <span key="by">
                {actorName(actor)} <CopyableId id={actor.id} short />
              </span>,
            ],
            [subject.type.replaceAll('_', ' '), <CopyableId key="subject" id={subject.id} />],
            ...(trail_id === subject.id
              ? []
              : [['On the trail of', <CopyableId key="trail" id={trail_id} />] as const]),
            ...(request_id ? [['Request', <CopyableId key="request" id={request_id} />] as const] : []),
            [
              'Proof',
              leaf_index === null ? 'waits for the next signed head' : `leaf ${writeCount(leaf_index)} of the tree`,
            ],
            ['Leaf hash', <CopyableId key="leaf" id={leaf_hash} short />],
          ]}
        />
        <p className={`small ${classes.elsewhere}`}>
          <PageLink to="audit-log" search={{ target: subject.id }}>
            What else happened to it
          </PageLink>
        </p>
      </div>
      <DataTableOf changes={changesOf(entry.data)} />
    </div>
  )
}

function DataTableOf({ changes }: { changes: readonly Change[] }) {
  const hasBefore = changes.some(({ before }) => before !== undefined)
  if (changes.length === 0) return <p className="dim">This entry holds no further data.</p>
  return (
    <div>
      <h2>{hasBefore ? 'Before and after' : 'Data'}</h2>
      <table className={classes.data}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            {hasBefore && <th scope="col">Before</th>}
            <th scope="col">{hasBefore ? 'After' : 'Value'}</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ name, before, after }) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              {hasBefore && <td className={classes.before}>{before}</td>}
              <td>{after}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
