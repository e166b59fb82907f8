import { IconArrowLeft } from '@tabler/icons-react'
import { Outlet } from '@tanstack/react-router'
import { useMe } from '../api/use-me.ts'
import { BrandMark } from '../components/brand.tsx'
import { FailedPage } from '../components/failed.tsx'
import { useNumberNotation } from '../components/money/use-number-notation.ts'
import { PathLink } from '../components/page-link.tsx'
import classes from './account-frame.module.css'
import { OutageBanner } from './outage-banner.tsx'
import { ThemeSwitch } from './theme-switch.tsx'

/** The frame of pages about the caller's own account, which belong to no organization. */
export function AccountFrame() {
  const me = useMe()
  useNumberNotation()
  if (me.error && !me.data)
    return (
      <>
        <OutageBanner />
        <FailedPage error={me.error} />
      </>
    )
  return (
    <>
      <header className={classes.header}>
        <BrandMark />
        <PathLink path="/" className={classes.back}>
          <IconArrowLeft size={16} stroke={1.75} /> Back to the console
        </PathLink>
        <ThemeSwitch />
      </header>
      <OutageBanner />
      <main className={classes.main}>{me.data && <Outlet />}</main>
    </>
  )
}
