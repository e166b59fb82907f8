/** A row of the help: the keys that do one thing, or one thing each. */
export interface Shortcut {
  /** What is pressed: a key (`J`), a chord (`Mod+Enter`), or one key after another (`G R`). Letters are capitals. */
  readonly keys: readonly string[]
  /** What it does, for the list of shortcuts. */
  readonly does: string
  /** The same in a word or two, for a line of hints below a list. */
  readonly hint?: string
  /** What the page shows instead of a long list of keys. */
  readonly shown?: readonly string[]
  /** Whether it also works in fields and while a dialog is open. */
  readonly whileTyping?: boolean
}

/** The shortcuts of one part of the console. `useShortcuts` accepts acts only for keys of such a table. */
export interface ShortcutGroup {
  readonly title: string
  readonly shortcuts: readonly Shortcut[]
}

/** Works on every page. The command menu listens for its own chord, and dialogs for Escape. */
export const EVERYWHERE = {
  title: 'Everywhere',
  shortcuts: [
    { keys: ['Mod+K'], does: 'Search and commands' },
    { keys: ['?'], does: 'This list' },
    { keys: ['Escape'], does: 'Close what is open' },
  ],
} as const satisfies ShortcutGroup

/** Works while a recorded decision is shown. */
export const ON_DECISION = {
  title: 'On a decision',
  shortcuts: [{ keys: ['R'], does: 'Replay the decision' }],
} as const satisfies ShortcutGroup

/** Works in the playground. */
export const IN_PLAYGROUND = {
  title: 'In the playground',
  shortcuts: [{ keys: ['Mod+Enter'], does: 'Decide', whileTyping: true }],
} as const satisfies ShortcutGroup

/** Works in the review queue. The form of a case listens for its own chord, so that no other field submits it. */
export const IN_REVIEW_QUEUE = {
  title: 'In the review queue',
  shortcuts: [
    { keys: ['J', 'K'], does: 'Next case, case before', hint: 'move' },
    { keys: ['N'], does: 'Take the next free case', hint: 'take next' },
    { keys: ['M'], does: 'Assign the case to me', hint: 'assign to me' },
    {
      keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9'],
      shown: ['1', '2', '…'],
      does: 'Choose a request of the case',
      hint: 'request',
    },
    { keys: ['A'], does: 'Approve', hint: 'approve' },
    { keys: ['C'], does: 'Approve with conditions', hint: 'conditions' },
    { keys: ['D'], does: 'Decline', hint: 'decline' },
    { keys: ['='], does: 'Give all requests the same verdict' },
    { keys: ['Mod+Enter'], does: 'Submit the decision' },
    { keys: ['Escape'], does: 'Close the case', hint: 'close' },
  ],
} as const satisfies ShortcutGroup

/** The key that makes chords: Command on Apple's systems, Control elsewhere. */
export const MOD_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl'

const KEY_NAMES: Readonly<Record<string, string>> = { Mod: MOD_KEY, Enter: '↵', Escape: 'Esc' }

/** The key caps of a shortcut, as the page shows them. */
export function keyCapsOf({ keys, shown }: Shortcut): string[] {
  return (shown ?? keys).flatMap((key) => key.split(/[ +]/)).map((name) => KEY_NAMES[name] ?? name)
}
