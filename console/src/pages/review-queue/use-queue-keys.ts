import { useEffect, useRef } from 'react'
import { isTyping } from '../../shell/shortcuts.tsx'

/** What the keys of the review queue do. */
export interface QueueKeys {
  /** J and K: to the next case, or to the one before. */
  move: (by: 1 | -1) => void
  /** N: the oldest free case. */
  takeNext: () => unknown
  /** M: this case to the operator who is signed in. */
  assignToMe: () => unknown
  /** A, C and D: chooses a verdict and asks for the reason; never submits. */
  choose: (verdict: 'approve' | 'approve_with_conditions' | 'decline') => unknown
  /** Esc: closes the case. */
  close: () => void
}

const VERDICT_OF_KEY = { A: 'approve', C: 'approve_with_conditions', D: 'decline' } as const

/** A second key soon after G belongs to the shell: `G A` opens the audit log and approves nothing. */
const SEQUENCE_MS = 1_200

/** Listens for the keys of the queue. Single letters are text while a field has the focus or a dialog is open. */
export function useQueueKeys(keys: QueueKeys): void {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    let firstKeyAt = -SEQUENCE_MS
    const onKeyDown = (event: KeyboardEvent) => {
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return
      const { move, takeNext, assignToMe, choose, close } = current.current
      const key = event.key.length === 1 ? event.key.toUpperCase() : event.key
      const isSecond = event.timeStamp - firstKeyAt < SEQUENCE_MS
      firstKeyAt = key === 'G' && !isSecond ? event.timeStamp : -SEQUENCE_MS
      if (isSecond) return
      const acts: Record<string, (() => unknown) | undefined> = {
        J: () => move(1),
        K: () => move(-1),
        N: takeNext,
        M: assignToMe,
        Escape: close,
      }
      const verdict = VERDICT_OF_KEY[key as keyof typeof VERDICT_OF_KEY]
      const act = verdict ? () => choose(verdict) : acts[key]
      if (!act) return
      // The letter must not be typed into the field that the key puts the focus on.
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}
