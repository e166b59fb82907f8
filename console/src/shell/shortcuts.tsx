import { Modal } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useCurrentPage } from './environment-switch.tsx'
import { PAGES } from './pages.ts'
import classes from './shortcuts.module.css'
import { isField } from './typing-guard.ts'
import { pathIn, useNextPlace } from './use-place.ts'

/** How long the second key of a sequence may take. */
const SEQUENCE_MS = 1_200

let isOpen = false
const listeners = new Set<() => void>()

/** Opens the list of keyboard shortcuts. */
export function openShortcuts(): void {
  setOpen(true)
}

function setOpen(open: boolean): void {
  isOpen = open
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether a key press belongs to a field or to an open dialog, where single letters are text. */
export function isTyping(event: KeyboardEvent): boolean {
  return isField(event.target) || document.querySelector('[role=dialog]') !== null
}

/** Listens for `?` and for sequences such as `G K`, and lists them all when asked. */
export function Shortcuts() {
  const opened = useSyncExternalStore(subscribe, () => isOpen)
  const router = useRouter()
  const place = useNextPlace()
  const page = useCurrentPage()
  const firstKeyAt = useRef(-Infinity)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return
      if (event.key === '?') return setOpen(true)
      const key = event.key.toUpperCase()
      const isSecond = event.timeStamp - firstKeyAt.current < SEQUENCE_MS
      firstKeyAt.current = key === 'G' && !isSecond ? event.timeStamp : -Infinity
      if (!isSecond) return
      const target = PAGES.find((candidate) => candidate.key === key)
      if (target) router.history.push(pathIn(place, target.path))
      if (key === 'S') router.history.push(pathIn({ ...place, environment: 'sandbox' }, page))
      if (key === 'P') router.history.push(pathIn({ ...place, environment: 'production' }, page))
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [router, place, page])
  return (
    <Modal opened={opened} onClose={() => setOpen(false)} title="Keyboard shortcuts" size={480}>
      <ShortcutList />
    </Modal>
  )
}

function ShortcutList() {
  const [groups] = useState(shortcutGroups)
  return (
    <div className={classes.groups}>
      {groups.map(({ title, shortcuts }) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl className={classes.list}>
            {shortcuts.map(({ keys, does }) => (
              <div key={does} className={classes.row}>
                <dt>{does}</dt>
                <dd>
                  {keys.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  )
}

/** The key that opens menus with K: Command on Apple's systems, Control elsewhere. */
export const MOD_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl'

function shortcutGroups(): { title: string; shortcuts: { keys: string[]; does: string }[] }[] {
  return [
    {
      title: 'Everywhere',
      shortcuts: [
        { keys: [MOD_KEY, 'K'], does: 'Search and commands' },
        { keys: ['?'], does: 'This list' },
        { keys: ['Esc'], does: 'Close what is open' },
      ],
    },
    {
      title: 'In the review queue',
      shortcuts: [
        { keys: ['J', 'K'], does: 'Next case, case before' },
        { keys: ['N'], does: 'Take the next free case' },
        { keys: ['M'], does: 'Assign the case to me' },
        { keys: ['A'], does: 'Approve' },
        { keys: ['C'], does: 'Approve with conditions' },
        { keys: ['D'], does: 'Decline' },
        { keys: [MOD_KEY, '↵'], does: 'Submit the decision' },
      ],
    },
    {
      title: 'Go to',
      shortcuts: [
        ...PAGES.map(({ key, title }) => ({ keys: ['G', key], does: title })),
        { keys: ['G', 'S'], does: 'Sandbox' },
        { keys: ['G', 'P'], does: 'Production' },
      ],
    },
  ]
}
