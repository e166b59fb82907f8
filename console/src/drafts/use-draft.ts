import { useMemo, useState, useSyncExternalStore } from 'react'
import { newIdempotencyKey } from '../api/new-idempotency-key.ts'
import { useMe } from '../api/use-me.ts'
import { usePlace } from '../api/use-place.ts'
import { RETRIED_WITHIN_MS, type Sendable } from '../api/use-sending.ts'
import type { KeptDraft } from './draft-store.ts'
import { drafts } from './drafts.ts'

/** What a person types in a form, which this browser keeps until it is sent, discarded, or seven days old. */
export interface Draft<Value> extends Sendable {
  value: Value
  /** Takes the next value, or makes it of the newest one. */
  change: (next: Value | ((written: Value) => Value)) => void
  /** Whether the value differs from the one that the form begins with. */
  isKept: boolean
  /** When the draft was typed that the form found as it opened, in milliseconds. */
  foundFromMs: number | undefined
  /** Whether it was sent and no answer came, so that the act may have been carried out. */
  isUnanswered: boolean
  /** Whether sending it again is a retry of that act, which then happens once. */
  isRetry: boolean
  /** Forgets what was typed; the form begins again. */
  discard: () => void
  /** What another tab or an earlier visit had typed, of which the form no longer has every text. */
  older: { fromMs: number; bringBack: () => void; discard: () => void } | undefined
}

/**
 * The draft of a form about one object of this place, such as `note case_1`. Never for a password, a code or another
 * secret: drafts are plain text in the browser.
 */
export function useDraft<Value>(about: string, begin: Value): Draft<Value> {
  const { organizationId, environment } = usePlace()
  return useNamedDraft(`${organizationId} ${environment} ${about}`, begin)
}

/** The draft of a form about the caller's own account. */
export function useAccountDraft<Value>(about: string, begin: Value): Draft<Value> {
  return useNamedDraft(`account ${about}`, begin)
}

function useNamedDraft<Value>(about: string, begin: Value): Draft<Value> {
  const name = `${useMe().data?.account.id ?? ''} ${about}`
  const beginText = JSON.stringify(begin)
  const kept = useKept<Value>(name, beginText)
  const [found, setFound] = useState({ name, fromMs: kept?.atMs })
  if (found.name !== name) setFound({ name, fromMs: kept?.atMs })
  const [sending, setSending] = useState<string>()
  const value = kept ? kept.value : begin
  const isUnanswered = (kept?.key !== undefined || kept?.wasSent === true) && sending !== name
  const isRetry = isUnanswered && canBeRetried(kept)
  const isKept = kept !== undefined && JSON.stringify(kept.value) !== beginText
  const olderOnes = kept?.older ?? []
  const lost = olderOnes.find((one) => fitted(one.value, begin) !== undefined && !isPartOf(one.value, value))
  const forget = () => {
    drafts.remove(name)
    setFound({ name, fromMs: undefined })
  }
  return {
    value,
    change(next) {
      const stored = drafts.parse(drafts.read(name))
      const written = (stored && fitted<Value>(stored.value, begin)) ?? begin
      const changed = next instanceof Function ? next(written) : next
      // A draft whose call may have been carried out keeps its key, so that the next call is known to be another.
      if (JSON.stringify(changed) === beginText && !stored?.key && !stored?.older) drafts.remove(name)
      else drafts.write(name, { value: changed, ...(stored?.key && { key: stored.key }) })
    },
    isKept,
    foundFromMs: kept && found.fromMs,
    isUnanswered,
    isRetry,
    discard() {
      if (lost) drafts.write(name, { value: begin }, olderOnes)
      else forget()
    },
    older: lost && {
      fromMs: lost.atMs,
      bringBack() {
        const others = olderOnes.filter((one) => one !== lost)
        drafts.write(name, { value: lost.value }, [{ value, atMs: kept!.atMs }, ...others])
      },
      discard() {
        if (isKept || kept!.key) drafts.write(name, { value, ...(kept!.key && { key: kept!.key }) }, [])
        else forget()
      },
    },
    begin() {
      const stored = drafts.parse(drafts.read(name))
      // As the button said when it was pressed.
      const key = (isRetry && stored?.key) || newIdempotencyKey()
      // Kept with the text, so that a retry after a reload is a retry.
      drafts.write(name, { value, key })
      setSending(name)
      return key
    },
    end(outcome) {
      setSending(undefined)
      if (outcome === 'unknown') return
      if (outcome === 'done') drafts.dropKeys(name)
      const stored = drafts.parse(drafts.read(name))?.value ?? value
      const text = JSON.stringify(stored)
      // What another tab typed since is not what was sent.
      if (text === beginText || (outcome === 'done' && text === JSON.stringify(value))) forget()
      else drafts.write(name, { value: stored })
    },
  }
}

/** The draft that the browser keeps, if it has the shape of the form's. */
function useKept<Value>(name: string, beginText: string): (KeptDraft & { value: Value }) | undefined {
  const text = useSyncExternalStore(drafts.subscribe, () => drafts.read(name))
  return useMemo(() => {
    const draft = drafts.parse(text)
    const value = draft && fitted<Value>(draft.value, JSON.parse(beginText))
    return value === undefined ? undefined : { ...draft!, value }
  }, [text, beginText])
}

/** Whether a draft is still the act it was sent for: once its form was left for long, the same words may be a new one. */
function canBeRetried(kept: KeptDraft): boolean {
  if (kept.key === undefined) return false
  return drafts.isOfThisVisit(kept) || Date.now() - kept.atMs < RETRIED_WITHIN_MS
}

/** The stored value if it has the shape of the form's, which a newer release may have changed. */
function fitted<Value>(value: unknown, begin: Value): Value | undefined {
  if (typeof value !== typeof begin || Array.isArray(value) !== Array.isArray(begin)) return undefined
  const isRecord = typeof begin === 'object' && begin !== null && !Array.isArray(begin)
  return isRecord ? { ...begin, ...(value as object) } : (value as Value)
}

/** Whether each text of a draft still stands in another, so that nothing of it is lost. */
function isPartOf(older: unknown, newer: unknown): boolean {
  if (typeof older === 'string') return typeof newer === 'string' && newer.includes(older)
  if (typeof older !== 'object' || older === null) return older === newer
  const parts = (newer ?? {}) as Record<string, unknown>
  return Object.entries(older).every(([name, part]) => isPartOf(part, parts[name]))
}
