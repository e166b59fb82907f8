import { ActionIcon, Menu } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconClock, IconDots, IconShieldCheck } from '@tabler/icons-react'
import { useAct } from '../../api/use-operation.ts'
import { Avatar } from '../../components/avatar.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { roleName } from '../../shell/role-name.ts'
import type { SentInvitation } from './invite-dialog.tsx'
import classes from './team.module.css'
import type { TeamAct } from './team-dialogs.tsx'
import type { RoleChoice, Teammate } from './teammate.ts'

/** The table of operators, with a menu of what the caller may do to each. */
export function TeamTable({
  query,
  rows,
  roles,
  canManage,
  onAct,
  onInvited,
}: {
  query: { isPending: boolean; error: Error | null; refetch: () => unknown }
  rows: readonly Teammate[] | undefined
  roles: readonly RoleChoice[] | undefined
  canManage: boolean
  onAct: (act: TeamAct) => void
  onInvited: (invitation: SentInvitation) => void
}) {
  const columns: Column<Teammate>[] = [
    {
      id: 'name',
      header: 'Person',
      onPhone: 'top',
      sortBy: ({ name }) => name.toLowerCase(),
      cell: (row) => <Person {...row} />,
    },
    {
      id: 'role',
      header: 'Role',
      onPhone: 'bottom',
      sortBy: ({ role }) => roles?.findIndex((choice) => choice.role === role) ?? 0,
      cell: ({ role }) => (
        <span title={roles?.find((choice) => choice.role === role)?.description}>{roleName(role)}</span>
      ),
    },
    { id: 'state', header: 'State', onPhone: 'bottom end', cell: (row) => <State {...row} /> },
    { id: 'two-factor', header: 'Two-factor', cell: (row) => <TwoFactor {...row} />, hideOnPhone: true },
    {
      id: 'last',
      header: 'Last sign-in',
      end: true,
      hideOnPhone: true,
      sortBy: ({ last_sign_in_at }) => last_sign_in_at ?? '',
      cell: ({ last_sign_in_at }) =>
        last_sign_in_at ? <Time at={last_sign_in_at} as="relative" /> : <span className="dim">never</span>,
    },
  ]
  if (canManage)
    columns.push({
      id: 'acts',
      header: '',
      end: true,
      onPhone: 'top end',
      cell: (row) => row.may_manage && <Acts teammate={row} onAct={onAct} onInvited={onInvited} />,
    })
  return <DataTable label="Operators" columns={columns} rows={rows} keyOf={({ id }) => id} query={query} />
}

function Person({ name, email, is_you }: Teammate) {
  return (
    <div className={classes.person}>
      <Avatar name={name} />
      <div className={classes.words}>
        <div>
          <span className="strong">{name}</span> {is_you && <span className="dim">you</span>}
        </div>
        <div className="small dim truncate" title={email}>
          {email}
        </div>
      </div>
    </div>
  )
}

function State({ state, invited_until, removed_at, has_codes }: Teammate) {
  if (state === 'active')
    return (
      <StateBadge tone="ok" icon={<IconCheck />}>
        Active
      </StateBadge>
    )
  if (state === 'invited' && invited_until)
    return (
      <>
        <StateBadge tone="info" icon={<IconClock />}>
          Invited
        </StateBadge>
        <div className="small dim">
          until <Time at={invited_until} />
        </div>
      </>
    )
  if (state === 'removed' && removed_at)
    return (
      <>
        <StateBadge outline>Removed</StateBadge>
        <div className="small dim">
          <Time at={removed_at} as="date" />
        </div>
      </>
    )
  return (
    <>
      <StateBadge tone="warn" icon={<IconAlertTriangle />}>
        {state === 'invitation_expired' ? 'Invitation expired' : 'Cannot sign in'}
      </StateBadge>
      {has_codes && <div className="small dim">command line only</div>}
    </>
  )
}

function TwoFactor({ has_two_factor, has_single_sign_on }: Teammate) {
  if (has_two_factor === null) return <span className="dim">–</span>
  if (has_two_factor)
    return (
      <StateBadge tone="ok" icon={<IconShieldCheck />}>
        On
      </StateBadge>
    )
  return has_single_sign_on ? <span className="dim">At the provider</span> : <StateBadge outline>Off</StateBadge>
}

function Acts({
  teammate,
  onAct,
  onInvited,
}: {
  teammate: Teammate
  onAct: (act: TeamAct) => void
  onInvited: (invitation: SentInvitation) => void
}) {
  const renew = useAct('team.renew-invitation', { onDone: onInvited })
  const { id: operator_id, state, name } = teammate
  const hasAccount = state === 'active'
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={`What to do with ${name}`} loading={renew.isPending}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onAct({ name: 'role', teammate })}>Change role</Menu.Item>
        {hasAccount && (
          <Menu.Item onClick={() => onAct({ name: 'sessions', teammate })}>Sessions ({teammate.sessions})</Menu.Item>
        )}
        {!hasAccount && <Menu.Item onClick={() => renew.mutate({ operator_id })}>Make a new link</Menu.Item>}
        {state === 'invited' && (
          <Menu.Item onClick={() => onAct({ name: 'withdraw', teammate })}>Withdraw invitation</Menu.Item>
        )}
        <Menu.Item color="var(--no-t)" onClick={() => onAct({ name: 'remove', teammate })}>
          Remove
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
