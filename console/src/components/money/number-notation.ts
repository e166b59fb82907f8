import type { OutputOf } from '../../api/operation-types.ts'

/** One way to write numbers, as an account keeps it. */
export type NumberNotation = NonNullable<OutputOf<'account.show'>['account']['number_notation']>

/** What a notation consists of. */
interface NotationSigns {
  /** Stands between groups of digits. */
  group: string
  decimal: string
  /** The locale by whose rule digits are grouped: by thousands, or by lakh and crore. */
  grouping: 'en-GB' | 'en-IN'
}

/** The signs of every notation. */
export const NOTATIONS: Readonly<Record<NumberNotation, NotationSigns>> = {
  comma_point: { group: ',', decimal: '.', grouping: 'en-GB' },
  point_comma: { group: '.', decimal: ',', grouping: 'en-GB' },
  // A no-break space keeps an amount on one line; the narrow one is two pixels wide in the console's font.
  space_comma: { group: '\u00a0', decimal: ',', grouping: 'en-GB' },
  apostrophe_point: { group: '’', decimal: '.', grouping: 'en-GB' },
  indian: { group: ',', decimal: '.', grouping: 'en-IN' },
}

/** The notation of a locale, such as that of the browser. */
export function notationOfLocale(locale: string): NumberNotation {
  // Seven digits: some locales group no four digits, and only the third group tells lakh from thousands.
  const parts = new Intl.NumberFormat(locale, { numberingSystem: 'latn' }).formatToParts(1_234_567.5)
  const written = (type: string) => parts.find((part) => part.type === type)?.value ?? ''
  if (written('integer').length === 2) return 'indian'
  if (/['’]/.test(written('group'))) return 'apostrophe_point'
  if (written('decimal') === '.') return 'comma_point'
  return /\s/.test(written('group')) ? 'space_comma' : 'point_comma'
}

let current: NumberNotation = 'comma_point'

/** The notation in which the console writes and reads numbers now. */
export function currentNotation(): NumberNotation {
  return current
}

/** Makes the console write and read numbers in another notation from the next rendering on. */
export function setNotation(notation: NumberNotation): void {
  current = notation
}
