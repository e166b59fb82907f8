import { type ReactNode, useEffect } from 'react'
import { setCrumbs } from './crumbs.ts'
import classes from './page-header.module.css'
import type { PageTarget } from './page-search.ts'

/** The parent of a page, for the crumbs of the header. */
export interface ParentPage {
  title: string
  /** Its path within the place, such as `webhooks`. */
  path: PageTarget['to']
}

/** The title of a page with one line below it and its buttons; also names the page in the header and the browser's tab. */
export function PageHeader({
  title,
  below,
  badge,
  parent,
  mono = false,
  children,
}: {
  title: string
  below?: ReactNode
  badge?: ReactNode
  parent?: ParentPage
  /** Writes the title in monospace, for addresses and ids. */
  mono?: boolean
  /** Buttons on the right; at most one of them is the primary one. */
  children?: ReactNode
}) {
  const { title: parentTitle, path: parentPath } = parent ?? {}
  useEffect(() => {
    setCrumbs({ title, ...(parentTitle && parentPath && { parent: { title: parentTitle, path: parentPath } }) })
    document.title = `${title} · Verdigraph`
  }, [title, parentTitle, parentPath])
  return (
    <header className={classes.header}>
      <div className={classes.words}>
        <div className={classes.titleRow}>
          <h1 className={mono ? `${classes.title} mono` : classes.title}>{title}</h1>
          {badge}
        </div>
        {below && <div className={classes.below}>{below}</div>}
      </div>
      {children && <div className={classes.actions}>{children}</div>}
    </header>
  )
}
