import { UnstyledButton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconChevronDown } from '@tabler/icons-react'
import { type ReactNode, useId, useState } from 'react'
import { Section } from '../components/section.tsx'
import classes from './fold-section.module.css'

/** A part of the view that folds on a phone, where the whole view is many screens long. */
export function FoldSection({
  title,
  isOpenOnPhone = false,
  sub,
  end,
  footer,
  flush,
  children,
}: {
  title: string
  /** Whether a phone shows it at once. */
  isOpenOnPhone?: boolean
  sub?: ReactNode
  end?: ReactNode
  footer?: ReactNode
  flush?: boolean
  children: ReactNode
}) {
  const isPhone = useMediaQuery('(max-width: 760px)', undefined, { getInitialValueInEffect: false }) ?? false
  const [isOpen, setOpen] = useState(isOpenOnPhone)
  const id = useId()
  const isFolded = isPhone && !isOpen
  const name = isPhone ? (
    <UnstyledButton
      className={classes.fold}
      aria-expanded={isOpen}
      aria-controls={id}
      onClick={() => setOpen((current) => !current)}
    >
      {title}
      <IconChevronDown size={16} stroke={1.75} data-open={isOpen || undefined} />
    </UnstyledButton>
  ) : (
    title
  )
  return (
    <Section
      title={name}
      {...(flush && { flush })}
      {...(!isFolded && { sub, end, footer })}
      {...(isFolded && { className: classes.folded })}
    >
      <div id={id} hidden={isFolded}>
        {children}
      </div>
    </Section>
  )
}
