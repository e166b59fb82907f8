import { Skeleton } from '@mantine/core'
import type { ComponentType, ReactNode } from 'react'
import classes from './figure.module.css'
import { PageLink } from './page-link.tsx'
import type { PageTarget } from './page-search.ts'
import { writeNumber } from './write-number.ts'

/** A number of the overview, linked to the list that it counts, if there is such a page. */
export function Figure({
  label,
  icon: Icon,
  value,
  unit,
  below,
  tone,
  link,
}: {
  label: string
  icon?: ComponentType<{ size?: number; stroke?: number }>
  /** Undefined while it loads. */
  value: ReactNode | undefined
  unit?: string
  below?: ReactNode
  /** Colours the line below, which then needs words that say the same. */
  tone?: 'bad' | 'warn' | undefined
  link?: PageTarget | undefined
}) {
  const words = (
    <>
      <span className={classes.label}>
        {Icon && <Icon size={14} stroke={1.75} />}
        {label}
      </span>
      {value === undefined ? (
        <Skeleton height={24} width={80} mt={6} mb={4} />
      ) : (
        <span className={classes.value}>
          {typeof value === 'number' ? writeNumber(value) : value}
          {unit && (
            <>
              {'\u00a0'}
              <small>{unit}</small>
            </>
          )}
        </span>
      )}
      <span className={classes.below} data-tone={tone}>
        {below ?? '\u00a0'}
      </span>
    </>
  )
  if (link === undefined) return <div className={classes.figure}>{words}</div>
  return (
    <PageLink {...link} className={classes.figure}>
      {words}
    </PageLink>
  )
}

/** A row of figures in one card. */
export function Figures({ children }: { children: ReactNode }) {
  return <section className={classes.figures}>{children}</section>
}
