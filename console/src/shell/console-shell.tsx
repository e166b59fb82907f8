import { ActionIcon, AppShell, Burger } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconHelp, IconSearch } from '@tabler/icons-react'
import { Outlet } from '@tanstack/react-router'
import { Fragment, useEffect } from 'react'
import { useMe } from '../api/use-me.ts'
import { usePlace } from '../api/use-place.ts'
import { useCrumbs } from '../components/crumbs.ts'
import { FailedPage } from '../components/failed.tsx'
import { useNumberNotation } from '../components/money/use-number-notation.ts'
import { PageLink } from '../components/page-link.tsx'
import { CommandMenu, openCommandMenu } from './command-menu.tsx'
import classes from './console-shell.module.css'
import { EnvironmentBadge, EnvironmentSwitch } from './environment-switch.tsx'
import { rememberPlace } from './last-place.ts'
import { Navigation } from './navigation.tsx'
import { NotFoundPage } from './not-found-page.tsx'
import { OrganizationSwitch } from './organization-switch.tsx'
import { OutageBanner } from './outage-banner.tsx'
import { MOD_KEY } from './shortcut-tables.ts'
import { openShortcuts, Shortcuts } from './shortcuts.tsx'
import { ThemeSwitch } from './theme-switch.tsx'
import { UserMenu } from './user-menu.tsx'

/** The frame around every page of an organization: navigation, environment, header, command menu, shortcuts. */
export function ConsoleShell() {
  const place = usePlace()
  const [opened, { toggle, close }] = useDisclosure()
  const me = useMe()
  const notation = useNumberNotation()
  const isMember = me.data?.organizations.some((organization) => organization.id === place.organizationId)
  useEffect(() => {
    document.documentElement.dataset.env = place.environment
    if (isMember) rememberPlace(place)
    return () => {
      delete document.documentElement.dataset.env
    }
  }, [place, isMember])
  if (me.error && !me.data)
    return (
      <>
        <OutageBanner />
        <FailedPage error={me.error} />
      </>
    )
  if (isMember === false) return <NotFoundPage />
  return (
    <AppShell
      layout="alt"
      header={{ height: 52 }}
      navbar={{ width: 228, breakpoint: 760, collapsed: { mobile: !opened } }}
      padding={0}
    >
      <a href="#main" className={classes.skip}>
        Skip to the content
      </a>
      <AppShell.Navbar className={classes.navbar} aria-label="Console" component="aside">
        <div className={classes.navbarTop}>
          <OrganizationSwitch />
          <Burger
            opened
            onClick={close}
            hiddenFrom="48em"
            size="sm"
            aria-label="Close navigation"
            className={classes.burger}
          />
        </div>
        <EnvironmentSwitch />
        <Navigation onFollow={close} />
        <div className={classes.navbarBottom}>
          <UserMenu />
          <ThemeSwitch />
        </div>
      </AppShell.Navbar>
      <AppShell.Header className={classes.header} data-env={place.environment}>
        <Header onOpenNavigation={toggle} />
      </AppShell.Header>
      <AppShell.Main id="main" className={classes.main} tabIndex={-1}>
        <OutageBanner isInset />
        {isMember && (
          <Fragment key={notation}>
            <Outlet />
          </Fragment>
        )}
      </AppShell.Main>
      <CommandMenu />
      <Shortcuts />
    </AppShell>
  )
}

function Header({ onOpenNavigation }: { onOpenNavigation: () => void }) {
  const { environment } = usePlace()
  const { title, parent } = useCrumbs()
  return (
    <>
      <Burger onClick={onOpenNavigation} size="sm" aria-label="Open navigation" className={classes.burger} />
      <div className={classes.crumbs}>
        {parent && (
          <>
            <PageLink to={parent.path} className={classes.parent}>
              {parent.title}
            </PageLink>
            <span className={classes.parent}>/</span>
          </>
        )}
        <b className="truncate">{title}</b>
      </div>
      <span className={classes.phoneBadge}>
        <EnvironmentBadge environment={environment} />
      </span>
      <button type="button" className={classes.search} onClick={openCommandMenu} aria-label="Search and commands">
        <IconSearch size={14} stroke={1.75} />
        <span>Jump to entity, id, page…</span>
        <kbd>{MOD_KEY === '⌘' ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <ActionIcon aria-label="Keyboard shortcuts" onClick={openShortcuts} className={classes.help}>
        <IconHelp size={20} stroke={1.75} />
      </ActionIcon>
    </>
  )
}
