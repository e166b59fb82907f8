import { useCallback, useMemo, useState } from 'react'
import type { Place } from '../../api/call.ts'
import { usePlace } from '../../shell/use-place.ts'

/** The text of a policy that is being written, which this browser keeps until it is proposed or discarded. */
export interface KeptDraft {
  text: string
  /** Whether the text differs from the one that the editor began with, and so is kept. */
  isKept: boolean
  change: (text: string) => void
  /** Forgets the draft; the editor begins again. */
  discard: () => void
}

/** Keeps what the author of a new version writes, for each organization, environment and version that it begins from. */
export function useKeptDraft(from: string, begin: string): KeptDraft {
  const key = keyOf(usePlace(), from)
  const found = useMemo(() => read(key), [key])
  const [text, setText] = useState(found ?? begin)
  const change = useCallback(
    (next: string) => {
      setText(next)
      write(key, next === begin ? null : next)
    },
    [key, begin],
  )
  const discard = useCallback(() => {
    setText(begin)
    write(key, null)
  }, [key, begin])
  return { text, isKept: text !== begin, change, discard }
}

function keyOf({ organizationId, environment }: Place, from: string): string {
  return `verdigraph-draft ${organizationId} ${environment} ${from}`
}

function read(key: string): string | null {
  return localStorage.getItem(key)
}

function write(key: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(key)
    else localStorage.setItem(key, text)
  } catch {
    // The browser has no room left: the text stays on the page, as it would without a draft.
  }
}
