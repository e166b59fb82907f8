import { ActionIcon, Menu, Tooltip, UnstyledButton } from '@mantine/core'
import {
  IconBan,
  IconCircleCheck,
  IconClock,
  IconDots,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
} from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { StateBadge, type Tone } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { rolesInWords } from '../../shell/role-name.ts'
import classes from './api-keys.module.css'
import type { KeyAct, ListedKey } from './key-dialogs.tsx'

const SOON_MS = 14 * 86_400_000
const ENDED: readonly string[] = ['replaced', 'expired', 'revoked']

/** The keys, those that still work first; each row has a menu with what can be done with the key. */
export function KeysTable({
  query,
  newestId,
  canManage,
  onAct,
  empty,
}: {
  query: UseQueryResult<OutputOf<'api-keys.list'>, Error>
  /** The key that was just created. */
  newestId: string | undefined
  canManage: boolean
  onAct: (act: KeyAct) => void
  empty: ReactNode
}) {
  const columns = columnsOf({ newestId, scopeCount: query.data?.scopes.length ?? 0 })
  const beyondRole = query.data?.scopes.filter(({ may_give }) => !may_give) ?? []
  const acts: Column<ListedKey> = {
    id: 'acts',
    header: '',
    end: true,
    onPhone: 'top end',
    cell: (key) => (
      <KeyActs keyRow={key} onAct={onAct} wider={beyondRole.find(({ name }) => key.scopes.includes(name))} />
    ),
  }
  const rows = query.data?.keys.toSorted((a, b) => Number(isEnded(a)) - Number(isEnded(b)))
  return (
    <DataTable
      label="API keys"
      columns={canManage ? [...columns, acts] : columns}
      rows={rows}
      keyOf={({ id }) => id}
      isSelected={({ id }) => id === newestId}
      query={query}
      empty={empty}
    />
  )
}

function columnsOf({
  newestId,
  scopeCount,
}: {
  newestId: string | undefined
  scopeCount: number
}): Column<ListedKey>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      onPhone: 'top',
      sortBy: ({ name }) => name.toLowerCase(),
      cell: (key) => (
        <span className={isEnded(key) ? classes.ended : 'strong'}>
          {key.name} {key.id === newestId && <StateBadge tone="accent">new</StateBadge>}
        </span>
      ),
    },
    {
      id: 'key',
      header: 'Key',
      onPhone: 'bottom',
      cell: (key) => <code className="nowrap">{`${key.prefix}····${key.last_four}`}</code>,
    },
    {
      id: 'state',
      header: 'State',
      onPhone: 'bottom end',
      sortBy: ({ state }) => state,
      cell: (key) => <KeyStateBadge keyRow={key} />,
    },
    {
      id: 'scopes',
      header: 'Scopes',
      cell: ({ scopes }) => <Scopes scopes={scopes} of={scopeCount} />,
      hideOnPhone: true,
    },
    {
      id: 'created',
      header: 'Created',
      sortBy: ({ created_at }) => created_at,
      cell: ({ created_at, created_by }) => (
        <>
          <Time at={created_at} as="date" />
          {created_by && <div className="small dim">by {created_by}</div>}
        </>
      ),
      hideOnPhone: true,
    },
    {
      id: 'used',
      header: 'Last used',
      sortBy: ({ last_used_at }) => last_used_at ?? '',
      cell: ({ last_used_at }) =>
        last_used_at ? <Time at={last_used_at} as="relative" /> : <span className="dim">never</span>,
    },
    { id: 'ends', header: 'Expires', sortBy: (key) => endOf(key) ?? '9', cell: (key) => <End keyRow={key} /> },
  ]
}

/** How many scopes a key has; the list of them opens by pointer, focus or touch. */
function Scopes({ scopes, of }: { scopes: readonly string[]; of: number }) {
  const words = scopes.length === of ? `all ${of}` : `${scopes.length} of ${of}`
  return (
    <Tooltip
      events={{ hover: true, focus: true, touch: true }}
      label={
        <ul className={classes.scopeList}>
          {scopes.map((scope) => (
            <li key={scope}>{scope}</li>
          ))}
        </ul>
      }
    >
      <UnstyledButton className={classes.scopeCount} aria-label={`${words} scopes: ${scopes.join(', ')}`}>
        {words}
      </UnstyledButton>
    </Tooltip>
  )
}

/** What can be done with a key. One with a scope beyond the person's role can be stopped, and not brought back. */
function KeyActs({
  keyRow: key,
  wider,
  onAct,
}: {
  keyRow: ListedKey
  wider: OutputOf<'api-keys.list'>['scopes'][number] | undefined
  onAct: (act: KeyAct) => void
}) {
  if (key.state === 'revoked') return null
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" aria-label={`Actions for ${key.name} ending in ${key.last_four}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {wider && (
          <Menu.Label maw={240}>
            It has {wider.name}: ask {rolesInWords(wider.given_by)} to rotate or enable it.
          </Menu.Label>
        )}
        {key.retires_at === null && !wider && (
          <Menu.Item leftSection={<IconRefresh size={16} />} onClick={() => onAct({ name: 'rotate', key })}>
            Rotate…
          </Menu.Item>
        )}
        {key.disabled_at !== null && !wider && (
          <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={() => onAct({ name: 'enable', key })}>
            Enable…
          </Menu.Item>
        )}
        {key.disabled_at === null && !isEnded(key) && (
          <Menu.Item leftSection={<IconPlayerPause size={16} />} onClick={() => onAct({ name: 'disable', key })}>
            Disable…
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconBan size={16} />} onClick={() => onAct({ name: 'revoke', key })}>
          Revoke…
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const STATES: Record<ListedKey['state'], { tone: Tone; word: string; icon: ReactNode }> = {
  active: { tone: 'ok', word: 'Active', icon: <IconCircleCheck size={14} /> },
  retiring: { tone: 'warn', word: 'Rotated, still works', icon: <IconClock size={14} /> },
  disabled: { tone: 'warn', word: 'Disabled', icon: <IconPlayerPause size={14} /> },
  replaced: { tone: 'neutral', word: 'Rotated', icon: <IconRefresh size={14} /> },
  expired: { tone: 'neutral', word: 'Expired', icon: <IconClock size={14} /> },
  revoked: { tone: 'bad', word: 'Revoked', icon: <IconBan size={14} /> },
}

function KeyStateBadge({ keyRow }: { keyRow: ListedKey }) {
  const { tone, word, icon } = STATES[keyRow.state]
  return (
    <StateBadge tone={tone} icon={icon}>
      {word}
    </StateBadge>
  )
}

function End({ keyRow }: { keyRow: ListedKey }) {
  const end = endOf(keyRow)
  if (keyRow.revoked_at !== null || end === null)
    return <span className="dim">{keyRow.revoked_at === null ? 'no expiry' : '–'}</span>
  const leftMs = Date.parse(end) - Date.now()
  const isSoon = leftMs > 0 && leftMs < SOON_MS
  return isSoon ? (
    <b className="text-review">
      <Time at={end} as="relative" />
    </b>
  ) : (
    <Time at={end} as="date" />
  )
}

/** The earlier of the expiry and the end of the grace period. */
function endOf({ expires_at, retires_at }: ListedKey): string | null {
  if (expires_at === null || retires_at === null) return retires_at ?? expires_at
  return expires_at < retires_at ? expires_at : retires_at
}

function isEnded({ state }: ListedKey): boolean {
  return ENDED.includes(state)
}
