import type { IdentifierType } from './vocabularies.ts'

/** What people type where they have no value; compared without spaces, hyphens and other signs. */
const PLACEHOLDERS = new Set([
  'na',
  'none',
  'null',
  'nil',
  'unknown',
  'undefined',
  'notavailable',
  'notapplicable',
  'notprovided',
  'missing',
  'empty',
  'tbd',
  'tba',
  'test',
])

/** The length of an IBAN by country, from the registry of ISO 13616. */
const IBAN_LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  `ad24 ae23 al28 at20 az28 ba20 be16 bg22 bh22 bi27 br29 by28 ch21 cr22 cy28 cz24 de22 dj27 dk18 do28 ee20 eg29 es24
   fi18 fk18 fo18 fr27 gb22 ge22 gi23 gl18 gr27 gt28 hn28 hr21 hu28 ie22 il23 iq23 is26 it27 jo30 kw30 kz20 lb28 lc32
   li21 lt20 lu20 lv21 ly25 mc27 md24 me22 mk19 mn20 mr27 mt31 mu30 ni28 nl18 no15 om23 pk24 pl28 ps29 pt25 qa29 ro24
   rs22 ru33 sa24 sc31 sd18 se24 si19 sk24 sm27 so23 st25 sv28 tl23 tn24 tr26 ua29 va22 vg24 xk20 ye30`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

/** Why the normal form of an identifier cannot be one, as the end of a sentence; undefined if it can. */
export function impossibleBecause(type: IdentifierType, normal: string): string | undefined {
  const signs = normal.replace(/[^\p{L}\p{N}]/gu, '')
  if (PLACEHOLDERS.has(signs)) return 'is a placeholder, so it identifies nothing'
  if (/^0{2,}$|^x{2,}$/.test(signs)) return 'repeats one character, so it identifies nothing'
  switch (type) {
    case 'email':
      return isEmail(normal) ? undefined : 'is not an e-mail address such as ada@example.com'
    case 'phone':
      return phoneFault(normal)
    case 'bank_account':
      return ibanFault(normal)
    default:
      return undefined
  }
}

/** The form of RFC 5321, without quoted local parts and domains of one label, which no mail provider gives out. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || local.length > 64 || text.length > 254) return false
  if (/[\s"(),:;<>@[\\\]]/.test(local) || /^\.|\.\.|\.$/.test(local)) return false
  const labels = domain.split('.')
  const isLabel = (label: string) => /^[\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u.test(label)
  return labels.length > 1 && labels.every(isLabel) && !/^\d+$/.test(labels.at(-1)!)
}

/** E.164 allows 15 digits and no country code that starts with 0; national numbers have at least 5 digits. */
function phoneFault(text: string): string | undefined {
  const digits = text.replace(/^\+/, '')
  if (digits.includes('+')) return 'is not a phone number: a + can only stand first'
  if (digits.length < 5) return 'is not a phone number: it has fewer than 5 digits'
  if (digits.length > 15) return 'is not a phone number: it has more than 15 digits'
  return text.startsWith('+0') ? 'is not a phone number: no country code starts with 0' : undefined
}

/** Checks an account number that has the form of an IBAN; any other is taken as it is. */
function ibanFault(text: string): string | undefined {
  const length = IBAN_LENGTHS[text.slice(0, 2)]
  if (length === undefined || !/^[a-z]{2}\d\d[a-z0-9]{8,}$/.test(text)) return undefined
  const country = text.slice(0, 2).toUpperCase()
  if (text.length !== length)
    return `is not an IBAN: one of ${country} has ${length} characters, and this one ${text.length}`
  return ibanRemainder(text) === 1 ? undefined : 'is not an IBAN: its check digits are wrong'
}

/** Whether the normal form of an account number is an IBAN. */
export function isIban(normal: string): boolean {
  return IBAN_LENGTHS[normal.slice(0, 2)] === normal.length && /^[a-z0-9]+$/.test(normal) && ibanRemainder(normal) === 1
}

/** The remainder of ISO 7064 MOD 97-10, which is 1 for a valid IBAN. */
function ibanRemainder(iban: string): number {
  let remainder = 0
  for (const sign of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(sign, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder
}
