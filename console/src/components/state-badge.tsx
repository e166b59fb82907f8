import type { ReactNode } from 'react'
import classes from './state-badge.module.css'

/** What a badge or a banner means; each has its own colours, and always words beside them. */
export type Tone = 'neutral' | 'ok' | 'info' | 'warn' | 'bad' | 'accent' | 'alert'

/** The state of something in a word or two, with an icon where the colour alone would say it. */
export function StateBadge({
  tone = 'neutral',
  icon,
  outline = false,
  children,
}: {
  tone?: Tone
  icon?: ReactNode
  outline?: boolean
  children: ReactNode
}) {
  return (
    <span className={classes.badge} data-tone={tone} data-outline={outline || undefined}>
      {icon}
      {children}
    </span>
  )
}

/** A sentence that a page must not hide, with what to do about it. */
export function Banner({
  tone = 'neutral',
  icon,
  action,
  children,
}: {
  tone?: Tone
  icon?: ReactNode
  action?: ReactNode
  children: ReactNode
}) {
  return (
    <div className={classes.banner} data-tone={tone} role={tone === 'bad' || tone === 'warn' ? 'status' : undefined}>
      {icon}
      <div className={classes.bannerWords}>{children}</div>
      {action}
    </div>
  )
}
