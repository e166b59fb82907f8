import { COMMON_PARTS, WALKS } from './common-password-parts.ts'

/** Length alone makes a password hard to guess: no rules about digits or capitals (NIST SP 800-63B, 3.1.1.2). */
export const PASSWORD_CHARACTERS_MIN = 12
/** A limit only so that a request stays small. */
export const PASSWORD_CHARACTERS_MAX = 128

/** A password with fewer characters besides common parts is one that attackers generate. */
const OWN_CHARACTERS_MIN = 4
/** A shorter piece of a keyboard row may be chance. */
const WALK_CHARACTERS_MIN = 3
/** Digits and signs that stand in for letters. */
const SPELLINGS: Record<string, string> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't', '@': 'a', $: 's', '!': 'i' }

/** Why a password must not be used; undefined if it may. */
export function passwordFault(password: string, { email }: { email: string }): string | undefined {
  const text = password.normalize('NFKC').toLowerCase()
  const characters = [...text]
  if (characters.length < PASSWORD_CHARACTERS_MIN)
    return `Use at least ${PASSWORD_CHARACTERS_MIN} characters. Several words are easier to remember than one.`
  if (characters.length > PASSWORD_CHARACTERS_MAX) return `Use at most ${PASSWORD_CHARACTERS_MAX} characters.`
  const [name = ''] = email.split('@', 1)
  if (text.includes(email) || email.includes(text)) return 'Use a password that is not made of your e-mail.'
  if (ownCharacters(text.replaceAll(name, ' ')) < OWN_CHARACTERS_MIN)
    return 'This password is made of what attackers try first. Add words of your own.'
  return undefined
}

/** Counts the characters that are neither in a common word, a keyboard walk, a number, a repetition nor punctuation. */
function ownCharacters(text: string): number {
  const spelledOut = text.replace(/[013457@$!]/g, (character) => SPELLINGS[character]!)
  let rest = text
  let spelledRest = spelledOut
  const strike = (start: number, length: number) => {
    const blank = ' '.repeat(length)
    rest = rest.slice(0, start) + blank + rest.slice(start + length)
    spelledRest = spelledRest.slice(0, start) + blank + spelledRest.slice(start + length)
  }
  for (const [start, length] of walksIn(text)) strike(start, length)
  for (const word of COMMON_PARTS)
    for (let start = spelledRest.indexOf(word); start >= 0; start = spelledRest.indexOf(word, start))
      strike(start, word.length)
  // A text that is repeated counts once, so that joining one word to itself gains nothing.
  const letters = rest.replace(/[^\p{L}]/gu, '')
  return new Set(letters.match(/.{1,4}/gsu) ?? []).size > 1 ? letters.length : Math.min(letters.length, 3)
}

/** The places and lengths of pieces of keyboard rows and of the alphabet, in either direction. */
function walksIn(text: string): [number, number][] {
  const walks = [...WALKS, ...WALKS.map((walk) => [...walk].reverse().join(''))]
  const found: [number, number][] = []
  for (let start = 0; start < text.length; start++) {
    let length = 0
    while (start + length < text.length && walks.some((walk) => walk.includes(text.slice(start, start + length + 1))))
      length++
    if (length < WALK_CHARACTERS_MIN) continue
    found.push([start, length])
    start += length - 1
  }
  return found
}
