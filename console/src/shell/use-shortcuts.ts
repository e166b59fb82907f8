import { useEffect, useRef } from 'react'
import { ShortcutRegistry } from './shortcut-registry.ts'
import type { ShortcutGroup } from './shortcut-tables.ts'
import { isField } from './typing-guard.ts'

const registry = new ShortcutRegistry()

type KeyOf<Group extends ShortcutGroup> = Group['shortcuts'][number]['keys'][number]

/** Gives acts to keys of a table of shortcuts while the component is mounted. */
export function useShortcuts<Group extends ShortcutGroup>(
  { shortcuts }: Group,
  acts: Readonly<Partial<Record<KeyOf<Group>, () => unknown>>>,
): void {
  const current = useRef(acts)
  current.current = acts
  useEffect(() => registry.register({ shortcuts, acts: () => current.current }), [shortcuts])
}

/** Listens for the shortcuts of all components. */
export function listenForShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    const { key, timeStamp, ctrlKey, metaKey, altKey: isAlt } = event
    const act = registry.actOf({ key, timeStamp, isChord: ctrlKey || metaKey, isAlt, isTyping: isTyping(event) })
    if (!act) return
    // The letter must not be typed into a field that the act puts the focus on.
    event.preventDefault()
    act()
  })
}

function isTyping({ target }: KeyboardEvent): boolean {
  return isField(target) || document.querySelector('[role=dialog]') !== null
}
