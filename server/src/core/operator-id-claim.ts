import { ID_ALPHABET } from './id-format.ts'
import { plainSpelling } from './plain-spelling.ts'

/** An id of an operator or an account, also in the middle of a text, such as `Olga (opr_…)`. */
const PERSON_ID = /(?:^|[^a-z0-9])(?:opr|acc)_/
/** The same with letters of other scripts in the prefix, which `?` stands for here. */
const IMITATED_ID = new RegExp(`(?:[o?][p?][r?]|[a?][c?][c?])[_?][0-7][${ID_ALPHABET}]{25}`)

/**
 * Whether a text reads as the id of an operator or of an account. All of them are refused where a caller names a person:
 * the ids of this organization, of others, and of operators to come.
 */
export function claimsOperatorId(text: string): boolean {
  const plain = plainSpelling(text)
  return PERSON_ID.test(plain) || IMITATED_ID.test(plain.replace(/[^ -~]/gu, '?'))
}
