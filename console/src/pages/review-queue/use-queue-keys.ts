import { useEffect, useRef } from 'react'
import { isTyping } from '../../shell/shortcuts.tsx'

/** What single keys do, by the key; letters are capitals. */
type QueueKeys = Readonly<Record<string, (() => unknown) | undefined>>

/** A second key soon after G belongs to the shell: `G A` opens the audit log and approves nothing. */
const SEQUENCE_MS = 1_200

/** Listens for keys of the queue. Single letters are text while a field has the focus or a dialog is open. */
export function useQueueKeys(keys: QueueKeys): void {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    let firstKeyAt = -SEQUENCE_MS
    const onKeyDown = (event: KeyboardEvent) => {
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return
      const key = event.key.length === 1 ? event.key.toUpperCase() : event.key
      const isSecond = event.timeStamp - firstKeyAt < SEQUENCE_MS
      firstKeyAt = key === 'G' && !isSecond ? event.timeStamp : -SEQUENCE_MS
      if (isSecond) return
      const act = current.current[key]
      if (!act) return
      // The letter must not be typed into the field that the key puts the focus on.
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}
