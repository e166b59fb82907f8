import type { ReactNode } from 'react'
import classes from './section.module.css'

/** A card with a title: one part of a page. */
export function Section({
  title,
  sub,
  end,
  footer,
  flush = false,
  className,
  children,
}: {
  title?: ReactNode
  /** A few quiet words beside the title. */
  sub?: ReactNode
  /** What stands at the right end of the title: a figure, a legend, buttons. */
  end?: ReactNode
  footer?: ReactNode
  /** Without padding, for tables and lists. */
  flush?: boolean
  className?: string
  children: ReactNode
}) {
  return (
    <section className={[classes.section, className].filter(Boolean).join(' ')}>
      {title && (
        <header className={classes.header}>
          <h2>{title}</h2>
          {sub && <span className={classes.sub}>{sub}</span>}
          {end && <div className={classes.end}>{end}</div>}
        </header>
      )}
      <div className={flush ? undefined : classes.body}>{children}</div>
      {footer && <footer className={classes.footer}>{footer}</footer>}
    </section>
  )
}

/** Pairs of a name and a value, one below the other. */
export function KeyValues({ rows }: { rows: readonly (readonly [name: ReactNode, value: ReactNode])[] }) {
  return (
    <dl className={classes.keyValues}>
      {rows.map(([name, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a card never move
        <div key={index}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
