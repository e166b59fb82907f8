import { Modal } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'
import { pathIn, useNextPlace } from '../api/use-place.ts'
import { useCurrentPage } from './environment-switch.tsx'
import { ENVIRONMENT_KEYS, GO_TO, PAGES } from './pages.ts'
import {
  EVERYWHERE,
  IN_PLAYGROUND,
  IN_REVIEW_QUEUE,
  keyCapsOf,
  ON_DECISION,
  type Shortcut,
  type ShortcutGroup,
  writeKey,
} from './shortcut-tables.ts'
import classes from './shortcuts.module.css'
import { useShortcuts } from './use-shortcuts.ts'

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

const GROUPS: readonly ShortcutGroup[] = [EVERYWHERE, ON_DECISION, IN_PLAYGROUND, IN_REVIEW_QUEUE, GO_TO]

/** The shortcuts of the shell, and the list of all shortcuts when it is asked for. */
export function Shortcuts() {
  const opened = useSyncExternalStore(subscribe, () => isOpen)
  const router = useRouter()
  const place = useNextPlace()
  const page = useCurrentPage()
  const go = (path: string) => () => router.history.push(path)
  useShortcuts(EVERYWHERE, { '?': openShortcuts })
  useShortcuts(GO_TO, {
    ...Object.fromEntries(PAGES.map(({ key, path }) => [`G ${key}`, go(pathIn(place, path))])),
    [`G ${ENVIRONMENT_KEYS.sandbox}`]: go(pathIn({ ...place, environment: 'sandbox' }, page)),
    [`G ${ENVIRONMENT_KEYS.production}`]: go(pathIn({ ...place, environment: 'production' }, page)),
  })
  return (
    <Modal opened={opened} onClose={() => setOpen(false)} title="Keyboard shortcuts" size={480}>
      <ShortcutList />
    </Modal>
  )
}

function ShortcutList() {
  return (
    <div className={classes.groups}>
      {GROUPS.map(({ title, shortcuts }) => (
        <section key={title} aria-label={title}>
          <h3>{title}</h3>
          <dl className={classes.list}>
            {shortcuts.map((shortcut) => (
              <div key={shortcut.does} className={classes.row}>
                <dt>{shortcut.does}</dt>
                <dd>
                  <KeyCaps of={shortcut} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  )
}

/** The key or chord of a button in one cap. */
export function KeyCap({ of: key }: { of: string }) {
  return <kbd>{writeKey(key)}</kbd>
}

/** The keys of a shortcut, as they stand on a keyboard. */
export function KeyCaps({ of: shortcut }: { of: Shortcut }) {
  return keyCapsOf(shortcut).map((cap) => <kbd key={cap}>{cap}</kbd>)
}
