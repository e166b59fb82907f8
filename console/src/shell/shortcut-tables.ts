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

/** The keys that buttons show too, by what they do: the tables, the acts and the labels read them here. */
export const KEYS = {
  replay: 'R',
  decide: 'Mod+Enter',
  nextCase: 'J',
  caseBefore: 'K',
  takeNext: 'N',
  assignToMe: 'M',
  approve: 'A',
  approve_with_conditions: 'C',
  decline: 'D',
  sameForAll: '=',
  submit: 'Mod+Enter',
  closeCase: 'Escape',
} as const

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
  shortcuts: [{ keys: [KEYS.replay], does: 'Replay the decision' }],
} as const satisfies ShortcutGroup

/** Works in the playground. */
export const IN_PLAYGROUND = {
  title: 'In the playground',
  shortcuts: [{ keys: [KEYS.decide], does: 'Decide', whileTyping: true }],
} as const satisfies ShortcutGroup

/** Works in the review queue. The form of a case listens for its own chord, so that no other field submits it. */
export const IN_REVIEW_QUEUE = {
  title: 'In the review queue',
  shortcuts: [
    { keys: [KEYS.nextCase, KEYS.caseBefore], does: 'Next case, case before', hint: 'move' },
    { keys: [KEYS.takeNext], does: 'Take the next free case', hint: 'take next' },
    { keys: [KEYS.assignToMe], does: 'Assign the case to me', hint: 'assign to me' },
    {
      keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9'],
      shown: ['1', '2', '…'],
      does: 'Choose a request of the case',
      hint: 'request',
    },
    { keys: [KEYS.approve], does: 'Approve', hint: 'approve' },
    { keys: [KEYS.approve_with_conditions], does: 'Approve with conditions', hint: 'conditions' },
    { keys: [KEYS.decline], does: 'Decline', hint: 'decline' },
    { keys: [KEYS.sameForAll], does: 'Give all requests the same verdict' },
    { keys: [KEYS.submit], does: 'Submit the decision' },
    { keys: [KEYS.closeCase], does: 'Close the case', hint: 'close' },
  ],
} as const satisfies ShortcutGroup

/** The key that makes chords: Command on Apple's systems, Control elsewhere. */
export const MOD_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl'

const KEY_NAMES: Readonly<Record<string, string>> = { Mod: MOD_KEY, Enter: '↵', Escape: 'Esc' }

/** The key caps of a shortcut, as the page shows them. */
export function keyCapsOf({ keys, shown }: Shortcut): string[] {
  return (shown ?? keys).flatMap(namesOf)
}

/** A key or a chord in one text, for the label of a button: `M`, `Esc`, `Ctrl ↵`. */
export function writeKey(key: string): string {
  return namesOf(key).join(' ')
}

function namesOf(key: string): string[] {
  return key.split(/[ +]/).map((name) => KEY_NAMES[name] ?? name)
}
