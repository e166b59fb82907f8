/** Characters that are not seen, such as zero-width spaces, soft hyphens and variation selectors. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
const DECIMAL_DIGIT = /\p{Nd}/u

/**
 * The plain spelling of a text that is compared: compatibility forms and capitals are folded, decimal digits of every
 * script become 0 to 9, and invisible characters are removed.
 */
export function plainSpelling(text: string): string {
  // Removed before NFKC, so that a letter and its accent are composed, and after it, because NFKC makes some.
  const visible = text.replace(INVISIBLE, '').normalize('NFKC').replace(INVISIBLE, '')
  return visible
    .replace(/\p{Nd}/gu, asciiDigit)
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .toLowerCase()
}

/** Whether a text can tell one thing from another: it has a letter or a digit of any script. */
export function hasLetterOrDigit(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text)
}

/** Unicode encodes the decimal digits of a script in ten consecutive code points, from zero to nine. */
function asciiDigit(digit: string): string {
  const codePoint = digit.codePointAt(0)!
  let first = codePoint
  while (DECIMAL_DIGIT.test(String.fromCodePoint(first - 1))) first--
  return String((codePoint - first) % 10)
}

/** Compares by code units, as PostgreSQL does under the "C" collation; `localeCompare` depends on the machine. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
