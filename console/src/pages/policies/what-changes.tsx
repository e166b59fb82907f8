import { Section } from '../../components/section.tsx'
import classes from './policies.module.css'
import type { PolicyChange, ShownPolicy } from './policy.ts'

const CHANGES_SHOWN = 60

/** What a policy changes against another, in words, each with its place in the document. */
export function WhatChanges({ compared }: { compared: ShownPolicy['compared'] }) {
  if (!compared)
    return (
      <Section title="What changes">
        <p className="secondary">This is the active policy, or there is none to compare it with.</p>
      </Section>
    )
  const { changes, version, summary } = compared
  return (
    <Section title="What changes" sub={`against ${version}: ${summary}`} flush>
      {changes.length === 0 ? (
        <p className={`${classes.note} secondary`}>Both decide alike.</p>
      ) : (
        <ul className={classes.changes}>
          {changes.slice(0, CHANGES_SHOWN).map((change) => (
            <li key={`${change.kind} ${change.path}`}>
              <div className={classes.changeWords}>
                <span className="strong">{change.what.replaceAll('_', ' ')}</span>{' '}
                <code className="dim">{change.path}</code>
                <div className="small dim">
                  {change.section}, {change.kind}
                </div>
              </div>
              <ChangeValues change={change} />
            </li>
          ))}
        </ul>
      )}
      {changes.length > CHANGES_SHOWN && (
        <p className={`${classes.note} dim`}>And {changes.length - CHANGES_SHOWN} more: see the text diff.</p>
      )}
    </Section>
  )
}

function ChangeValues({ change: { kind, before, after } }: { change: PolicyChange }) {
  if (kind === 'reordered') return <span className={classes.values}>in another order</span>
  return (
    <span className={classes.values}>
      {kind !== 'added' && <span className="dim">{short(before)}</span>}
      {kind === 'changed' && (
        <span className="dim">
          <span aria-hidden="true">→</span>
          <span className="visually-hidden">becomes</span>
        </span>
      )}
      {kind !== 'removed' && <b>{short(after)}</b>}
    </span>
  )
}

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 120)}…` : text
}
