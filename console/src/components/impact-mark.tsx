import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react'
import classes from './impact-mark.module.css'

/** Whether a reason speaks for or against the applicant, as an arrow with a word for screen readers. */
export function ImpactMark({ impact }: { impact: string }) {
  const isAgainst = impact === 'negative'
  const Icon = isAgainst ? IconArrowDownRight : IconArrowUpRight
  return (
    <span className={classes.mark} data-against={isAgainst || undefined}>
      <Icon size={13} aria-hidden="true" />
      <span className="visually-hidden">{isAgainst ? 'Against:' : 'For:'}</span>
    </span>
  )
}
