import { useDebouncedValue } from '@mantine/hooks'
import { Spotlight, spotlight } from '@mantine/spotlight'
import {
  IconAffiliate,
  IconArrowRight,
  IconBolt,
  IconFlask,
  IconKeyboard,
  IconPlus,
  IconSearch,
  IconUserCog,
} from '@tabler/icons-react'
import { useRouter } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { usePermission } from '../api/use-me.ts'
import { useOperation } from '../api/use-operation.ts'
import { pathIn, useIsArriving, useNextPlace, usePlace } from '../api/use-place.ts'
import { useGoIn } from '../components/page-link.tsx'
import type { PageTarget } from '../components/page-search.ts'
import classes from './command-menu.module.css'
import { environmentName, useCurrentPage } from './environment-switch.tsx'
import { ENVIRONMENT_KEYS, PAGES, pageOfId } from './pages.ts'
import { openShortcuts } from './shortcuts.tsx'

/** Entities are last: they arrive a moment later, and what is selected must not move under the Enter key. */
const GROUPS = ['Jump to', 'Pages', 'Do', 'Entities'] as const

interface Command {
  label: string
  group: (typeof GROUPS)[number]
  /** Tells apart what has the same label. */
  id?: string
  description?: string
  icon: ReactNode
  words?: string
  keys?: readonly string[]
  run: () => void
}

/** Opens the command menu. */
export const openCommandMenu = spotlight.open

/** The list passes it on to its scroll area, which its types do not tell: a scrolled area has to be reachable by keys. */
const SCROLLED_BY_KEYS = { viewportProps: { tabIndex: 0 } }

/** The command menu: pages, acts, and the page of a pasted id. */
export function CommandMenu() {
  const [query, setQuery] = useState('')
  const entities = useFoundEntities(query)
  const commands = [...useCommands(query).filter((command) => matches(command, query)), ...entities]
  const groups = GROUPS.filter((group) => commands.some((each) => each.group === group))
  return (
    <Spotlight.Root
      query={query}
      onQueryChange={setQuery}
      shortcut="mod + K"
      tagsToIgnore={[]}
      size={640}
      yOffset={108}
      centered={false}
      attributes={{ content: { 'aria-label': 'Search and commands' } }}
      classNames={{ content: classes.content }}
    >
      <Spotlight.Search
        placeholder="Find an entity, id or page, or type what to do"
        aria-label="Search and commands"
        leftSection={<IconSearch size={18} stroke={1.75} />}
        rightSection={<kbd>esc</kbd>}
        rightSectionWidth={56}
        classNames={{ input: classes.search }}
      />
      <Spotlight.ActionsList className={classes.list} {...SCROLLED_BY_KEYS}>
        {groups.map((group) => (
          <Spotlight.ActionsGroup key={group} label={group} className={classes.group}>
            {commands
              .filter((command) => command.group === group)
              .map((command) => (
                <Spotlight.Action
                  key={command.id ?? command.label}
                  label={command.label}
                  {...(command.description && { description: command.description })}
                  leftSection={command.icon}
                  rightSection={command.keys?.map((key) => <kbd key={key}>{key}</kbd>)}
                  onClick={command.run}
                  className={classes.action}
                />
              ))}
          </Spotlight.ActionsGroup>
        ))}
        {commands.length === 0 && (
          <Spotlight.Empty>Nothing has this name. Names are found by their beginning, ids in full.</Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
      <Spotlight.Footer className={classes.footer}>
        <span className={classes.keys}>
          <kbd>↑</kbd>
          <kbd>↓</kbd> move <kbd>↵</kbd> open
        </span>
        <span className={classes.hint}>Paste any id to jump to it</span>
      </Spotlight.Footer>
    </Spotlight.Root>
  )
}

/** How many letters are typed before entities are looked for, and how long typing has to pause. */
const SEARCHED_LETTERS_MIN = 2
const SEARCH_PAUSE_MS = 150
const ENTITIES_LISTED = 5

/** The entities whose name begins with what is typed, or whose own id it is. */
function useFoundEntities(query: string): Command[] {
  const router = useRouter()
  const place = usePlace()
  // While another environment loads, `useOperation` still reads the one that is left.
  const isArriving = useIsArriving()
  const [search] = useDebouncedValue(query.trim(), SEARCH_PAUSE_MS)
  const isSearched = !isArriving && search.length >= SEARCHED_LETTERS_MIN && pageOfId(search) === undefined
  const { data } = useOperation('entities.list', isSearched ? { search } : {}, { enabled: isSearched })
  if (!isSearched || query.trim() === '') return []
  return (data?.entities ?? []).slice(0, ENTITIES_LISTED).map(({ id, name, external_id, type }) => ({
    id,
    label: name,
    group: 'Entities',
    description: [external_id, type].filter((word) => word && word !== name).join(' · '),
    icon: <IconAffiliate size={16} stroke={1.75} />,
    run: () => router.history.push(pathIn(place, `entities/${id}`)),
  }))
}

function matches(command: Command, query: string): boolean {
  if (command.group === 'Jump to') return true
  const text = `${command.label} ${command.words ?? ''}`.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

function useCommands(query: string): Command[] {
  const router = useRouter()
  const place = useNextPlace()
  const page = useCurrentPage()
  const go = (path: string) => () => router.history.push(path)
  const goIn = useGoIn()
  const byId = pageOfId(query)
  const other = place.environment === 'sandbox' ? 'production' : 'sandbox'
  return [
    ...(byId
      ? [
          {
            label: byId.what,
            group: 'Jump to',
            icon: <IconArrowRight size={16} />,
            run: () => goIn(place, byId.target),
          } as const,
        ]
      : []),
    ...PAGES.map(({ path, title, icon: Icon, key, words }) => ({
      label: title,
      group: 'Pages' as const,
      icon: <Icon size={16} stroke={1.75} />,
      words,
      keys: ['G', key],
      run: go(pathIn(place, path)),
    })),
    ...useCreates().map(({ target, ...create }) => ({
      ...create,
      group: 'Do' as const,
      icon: <IconPlus size={16} stroke={1.75} />,
      run: () => goIn(place, target),
    })),
    {
      label: `Switch to ${environmentName(other).toLowerCase()}`,
      group: 'Do',
      icon: other === 'sandbox' ? <IconFlask size={16} stroke={1.75} /> : <IconBolt size={16} stroke={1.75} />,
      words: 'environment live test',
      keys: ['G', ENVIRONMENT_KEYS[other]],
      run: go(pathIn({ ...place, environment: other }, page)),
    },
    {
      label: 'Your account',
      group: 'Do',
      icon: <IconUserCog size={16} stroke={1.75} />,
      words: 'password passkey two-factor sessions profile',
      run: go('/account'),
    },
    {
      label: 'Keyboard shortcuts',
      group: 'Do',
      icon: <IconKeyboard size={16} stroke={1.75} />,
      words: 'keys help',
      keys: ['?'],
      run: openShortcuts,
    },
  ]
}

/** What the caller may create from anywhere. */
function useCreates(): { label: string; target: PageTarget; words: string }[] {
  const key: PageTarget = { to: 'api-keys', search: { create: '1' } }
  const endpoint: PageTarget = { to: 'webhooks', search: { create: '1' } }
  const teammate: PageTarget = { to: 'team', search: { invite: '1' } }
  return [
    usePermission('manage API keys') && { label: 'Create an API key', target: key, words: 'new token' },
    usePermission('manage webhooks') && { label: 'Add a webhook endpoint', target: endpoint, words: 'new' },
    usePermission('manage operators') && { label: 'Invite a teammate', target: teammate, words: 'operator person add' },
  ].filter((create) => create !== false)
}
