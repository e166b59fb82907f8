import { Menu, UnstyledButton } from '@mantine/core'
import { IconKeyboard, IconLogout, IconUserCog } from '@tabler/icons-react'
import { useMe, useMembership } from '../api/use-me.ts'
import { useAccountAct } from '../api/use-operation.ts'
import { Avatar } from '../components/avatar.tsx'
import { PathLink } from '../components/page-link.tsx'
import { drafts } from '../drafts/drafts.ts'
import classes from './console-shell.module.css'
import { roleName } from './role-name.ts'
import { openShortcuts } from './shortcuts.tsx'

/** The caller's name and role, with their account and signing out behind it. */
export function UserMenu() {
  const account = useMe().data?.account
  const membership = useMembership()
  // A full load, so that nothing of this session stays in memory.
  const signOut = useAccountAct('sign-in.end', {
    leaves: true,
    onDone: () => window.location.assign('/sign-in'),
  })
  // Before the call: a session that has ended already leads to the sign-in page without it.
  const forgetAndSignOut = () => {
    if (account) drafts.forget(account.id)
    signOut.mutate({})
  }
  if (!account) return <div className={classes.me} />
  return (
    <Menu position="top-start" width={204}>
      <Menu.Target>
        <UnstyledButton className={classes.me} aria-label={`Your account, ${account.name}`}>
          <Avatar name={account.name} />
          <span className={classes.meWords}>
            <span className={classes.meName}>{account.name}</span>
            <span className={classes.meRole}>{membership ? roleName(membership.role) : account.email}</span>
          </span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{account.email}</Menu.Label>
        <Menu.Item component={PathLink} path="/account" leftSection={<IconUserCog size={16} stroke={1.75} />}>
          Your account
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard size={16} stroke={1.75} />} onClick={openShortcuts}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} stroke={1.75} />} onClick={forgetAndSignOut}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
