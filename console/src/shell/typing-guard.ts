/** A key press sooner than this after the one before belongs to the same run of typing. */
const PAUSE_MS = 1_500
/** Keys by which a person leaves a field; what follows is meant for the page. */
const LEAVING_KEYS = ['Escape', 'Tab']
const MODIFIERS = ['Shift', 'Control', 'Alt', 'AltGraph', 'Meta']

/** A key press, as far as the guard looks at it. */
export interface KeyPress {
  key: string
  timeStamp: number
  /** Whether Ctrl, Alt or Command is held. */
  isChord: boolean
  /** Where it goes: `lines` is a field in which Enter begins a new line. */
  target: 'line' | 'lines' | 'page'
}

/**
 * Tells key presses that were meant for a field which the page took away while its person typed, for example because a
 * colleague decided the case. They must do nothing: read as shortcuts, the rest of a sentence could decide another case.
 */
export class TypingGuard {
  #typedAt = -Infinity

  /** Whether a key press was meant for a field that is gone. */
  isStray({ key, timeStamp, isChord, target }: KeyPress): boolean {
    if (MODIFIERS.includes(key)) return false
    const isSending = key === 'Enter' && (isChord || target !== 'lines')
    if (target !== 'page') {
      this.#typedAt = LEAVING_KEYS.includes(key) || isSending ? -Infinity : timeStamp
      return false
    }
    if (LEAVING_KEYS.includes(key)) this.pointed()
    // Chords are for the browser, to copy or to reload, except the one that sends a form.
    if (timeStamp - this.#typedAt >= PAUSE_MS || (isChord && !isSending)) return false
    this.#typedAt = timeStamp
    return true
  }

  /** The person chose something else, so the next key press is meant for that. */
  pointed(): void {
    this.#typedAt = -Infinity
  }
}

/** Whether key presses on an element are text. */
export function isField(target: EventTarget | null): boolean {
  const element = target as HTMLElement
  return element.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName)
}

function targetOf(target: EventTarget | null): KeyPress['target'] {
  if (!isField(target)) return 'page'
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement ? 'line' : 'lines'
}

/** Stops stray key presses before any part of the page sees them. */
export function guardTyping(): void {
  const guard = new TypingGuard()
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, timeStamp, target, ctrlKey, metaKey, altKey } = event
    if (!guard.isStray({ key, timeStamp, isChord: ctrlKey || metaKey || altKey, target: targetOf(target) })) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  document.addEventListener('keydown', onKeyDown, { capture: true })
  document.addEventListener('pointerdown', () => guard.pointed(), { capture: true })
}
