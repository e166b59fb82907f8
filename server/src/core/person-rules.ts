/** What the e-mail and the name of a person may be made of, wherever they come from: an invitation, a shell, a provider. */

const EMAIL_CHARACTERS_MAX = 254
const NAME_CHARACTERS_MAX = 255

/** The local part of RFC 5322 without quotes and backticks, up to the 64 characters of RFC 5321. */
const LOCAL_PART = /^(?!\.)(?!.*\.\.)[a-z0-9.!#$%&'*+/=?^_{|}~-]{1,64}(?<!\.)$/
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)

/** Scripts in everyday use (UAX #31, table 5). Those that are written together are one row (UTS #39, section 5.2). */
const WRITTEN_TOGETHER = [
  ['Latin'],
  ['Han', 'Hiragana', 'Katakana'],
  ['Han', 'Bopomofo'],
  ['Han', 'Hangul'],
  ...['Arabic', 'Armenian', 'Bengali', 'Cyrillic', 'Devanagari', 'Ethiopic', 'Georgian', 'Greek', 'Gujarati'],
  ...['Gurmukhi', 'Hebrew', 'Kannada', 'Khmer', 'Lao', 'Malayalam', 'Myanmar', 'Oriya', 'Sinhala', 'Tamil'],
  ...['Telugu', 'Thaana', 'Thai', 'Tibetan'],
].map((scripts) => [scripts].flat())

/** Words of one script; punctuation and digits belong to every script, and combining marks to the letter before them. */
const WORDS = WRITTEN_TOGETHER.map((scripts) => {
  const letters = scripts.map((script) => `\\p{scx=${script}}`).join('')
  return new RegExp(`^[${letters}\\p{scx=Common}\\p{scx=Inherited}]+$`, 'u')
})

/** Persian and the scripts of India write a joiner within a word; anywhere else it is a character that is not seen. */
const JOINER = new RegExp(
  [
    'Arabic',
    'Bengali',
    'Devanagari',
    'Gujarati',
    'Gurmukhi',
    'Kannada',
    'Malayalam',
    'Oriya',
    'Sinhala',
    'Tamil',
    'Telugu',
  ]
    .map((script) => `(?<=\\p{scx=${script}})[\\u200c\\u200d](?=\\p{scx=${script}})`)
    .join('|'),
  'gu',
)
const UNSEEN = /\p{C}|\p{Default_Ignorable_Code_Point}|(?! )\p{White_Space}/u
/** UTS #39, section 5.4: more than four marks on a letter are no writing. */
const STACKED_MARKS = /^\p{M}|\s\p{M}|\p{M}{5,}/u

/** The form in which e-mails are stored and compared. Only ASCII letters are folded: others have no place in an address. */
export function normalizedEmail(email: string): string {
  return email.replace(/^[ \t]+|[ \t]+$/g, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** Why a text in its normal form cannot be the e-mail of an operator; undefined if it can. */
export function emailFault(email: string): string | undefined {
  const at = email.lastIndexOf('@')
  const isAddress =
    email.length <= EMAIL_CHARACTERS_MAX &&
    LOCAL_PART.test(email.slice(0, Math.max(at, 0))) &&
    DOMAIN.test(email.slice(at + 1))
  return isAddress
    ? undefined
    : `${JSON.stringify(email)} is not an email address. It needs plain letters and digits as in ada@example.com, and the xn-- form of a domain with other letters.`
}

/** Why a text cannot be the name of a person, which other people rely on when they read it; undefined if it can. */
export function personNameFault(name: string): string | undefined {
  if (name.trim().length === 0 || name.length > NAME_CHARACTERS_MAX)
    return `The name of an operator must have 1 to ${NAME_CHARACTERS_MAX} characters.`
  const text = name.normalize('NFC').replace(JOINER, '')
  if (UNSEEN.test(text)) return 'The name has a line break or a character that is not seen.'
  if (/[<>]/.test(text)) return 'The name has < or >.'
  if (STACKED_MARKS.test(text.normalize('NFD'))) return 'The name has accents that belong to no letter.'
  const mixed = text.split(/[\s-]+/).find((word) => !WORDS.some((script) => script.test(word || '-')))
  return mixed && `The name mixes letters of several alphabets in ${JSON.stringify(mixed)}.`
}
