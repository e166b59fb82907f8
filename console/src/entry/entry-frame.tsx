import { IconCircleCheck } from '@tabler/icons-react'
import { type ReactNode, useEffect } from 'react'
import { BrandMark } from '../components/brand.tsx'
import classes from './entry-frame.module.css'

/** The frame of the pages before one is signed in: what this is on the left, the form on the right. */
export function EntryFrame({
  title,
  lead,
  side = 'Decisions with their reasons, replayable years later, on a log that shows every change.',
  facts = [],
  children,
}: {
  title: string
  /** One or two sentences below the title. */
  lead?: ReactNode
  side?: string
  /** What is true of this installation. */
  facts?: readonly string[]
  children: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · Verdigraph`
  }, [title])
  return (
    <div className={classes.frame}>
      <aside className={classes.side} aria-label="Verdigraph">
        <div className={classes.brand}>
          <BrandMark /> Verdigraph
        </div>
        <div className={classes.words}>
          <p>Who should get credit or access, and why?</p>
          <p>{side}</p>
          {facts.length > 0 && (
            <ul className={classes.facts}>
              {facts.map((fact) => (
                <li key={fact}>
                  <IconCircleCheck size={16} stroke={1.75} /> {fact}
                </li>
              ))}
            </ul>
          )}
        </div>
        <div className={classes.place}>
          Verdigraph on <code>{window.location.host}</code>
        </div>
      </aside>
      <main className={classes.main}>
        <div className={classes.content}>
          <div className={classes.brandOnPhone}>
            <BrandMark /> Verdigraph
          </div>
          <div>
            <h1>{title}</h1>
            {lead && <p className={classes.lead}>{lead}</p>}
          </div>
          {children}
        </div>
      </main>
    </div>
  )
}

/** A form of the pages before one is signed in; `onSubmit` is called without reloading the page. */
export function EntryForm({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
    </form>
  )
}

/** A line between two ways to do the same. */
export function Or({ children }: { children: string }) {
  return <div className={classes.or}>{children}</div>
}
