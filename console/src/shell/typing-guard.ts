/** A key press sooner than this after the one before belongs to the same run of typing. */
const PAUSE_MS = 1_500
/** Keys by which a person leaves a field or sends its form; what follows is meant for the page. */
const LEAVING_KEYS = ['Escape', 'Tab', 'Enter']

/** A key press, as far as the guard looks at it. */
export interface KeyPress {
  key: string
  timeStamp: number
  isInField: boolean
}

/**
 * Tells key presses that were meant for a field which the page took away while its person typed, for example because a
 * colleague decided the case. They must do nothing: read as shortcuts, the rest of a sentence could decide another case.
 */
export class TypingGuard {
  #typedAt = -Infinity

  /** Whether a key press was meant for a field that is gone. */
  isStray({ key, timeStamp, isInField }: KeyPress): boolean {
    if (isInField) {
      this.#typedAt = LEAVING_KEYS.includes(key) ? -Infinity : timeStamp
      return false
    }
    if (timeStamp - this.#typedAt >= PAUSE_MS) return false
    this.#typedAt = timeStamp
    return true
  }

  /** The person pointed at something, so the next key press is meant for that. */
  pointed(): void {
    this.#typedAt = -Infinity
  }
}

/** Whether key presses on an element are text. */
export function isField(target: EventTarget | null): boolean {
  const element = target as HTMLElement
  return element.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName)
}

/** Stops stray key presses before any part of the page sees them. */
export function guardTyping(): void {
  const guard = new TypingGuard()
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, timeStamp, target } = event
    if (!guard.isStray({ key, timeStamp, isInField: isField(target) })) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  document.addEventListener('keydown', onKeyDown, { capture: true })
  document.addEventListener('pointerdown', () => guard.pointed(), { capture: true })
}
