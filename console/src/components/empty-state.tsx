import type { ReactNode } from 'react'
import classes from './empty-state.module.css'

/** A list without entries: what would be here, and the next act that fills it. */
export function EmptyState({
  title,
  children,
  actions,
  preview,
}: {
  title: string
  /** One or two sentences: what lands here, and how. */
  children: ReactNode
  /** Buttons; the first is the primary one. */
  actions?: ReactNode
  /** Example rows, drawn dashed beside the words. */
  preview?: readonly ReactNode[]
}) {
  return (
    <div className={classes.empty} data-alone={preview === undefined || undefined}>
      <div className={classes.words}>
        <h2>{title}</h2>
        <p>{children}</p>
        {actions && <div className={classes.actions}>{actions}</div>}
      </div>
      {preview && (
        <ul className={classes.preview} aria-hidden="true">
          {preview.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the example rows never move
            <li key={index}>
              <span>{row}</span>
              <i />
              <i />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
