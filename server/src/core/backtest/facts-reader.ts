import { FIGURES_READ } from '../decide/read-figures.ts'
import type { Fact, FactSet } from '../facts/facts.ts'
import type { CompiledPolicy } from '../policy/compiled-policy.ts'

/** Reads facts from their recorded text; undefined if the text is not as it was written. */
export type FactsReader = (text: string) => FactSet | undefined

const HEAD = '{"features":{'
const TAIL = '},"format":1}'

/**
 * A reader of the features that a policy reads, and of no others. Parsing whole texts took half of the time of a backtest;
 * this takes half of that, because it depends on the text being canonical JSON: members in the order of their names,
 * without white space. Where it finds another text it gives up, and the text has to be parsed.
 *
 * Every call fills and returns the same object.
 */
export function factsReader(policy: CompiledPolicy): FactsReader {
  const names = featuresRead(policy)
  const members = names.map((name) => `${JSON.stringify(name).slice(1)}:{`)
  // Parsed, because V8 keeps an object of so many members in its fast form only if it was created whole.
  const features = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:0`).join(',')}}`) as FactSet
  return (text) => {
    if (!text.startsWith(HEAD) || !text.endsWith(TAIL)) return undefined
    let from = HEAD.length
    for (let index = 0; index < names.length; index++) {
      const member = members[index]!
      const at = text.indexOf(member, from)
      // A feature without a record is missing; one that is found earlier in the text is out of order.
      if (at < 0 && text.lastIndexOf(member, from) >= 0) return undefined
      let fact: Fact | undefined
      if (at >= 0) {
        if (!isNameAt(text, at)) return undefined
        from = at + member.length
        fact = readFact(text, from)
        if (fact === undefined) return undefined
      }
      features[names[index]!] = fact as Fact
    }
    return features
  }
}

/** Whether the name of a member starts here: inside of a text, its quotation mark would be escaped. */
function isNameAt(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 2)
  return text.charCodeAt(at - 1) === QUOTE && (before === COMMA || before === BRACE)
}

/** The features that a decision under this policy may read from the facts, in the order of their names. */
function featuresRead(policy: CompiledPolicy): string[] {
  const policies = [policy, ...policy.segments.map((segment) => segment.policy)]
  const inputs = policies.flatMap(({ inputs }) => inputs.filter(({ isMeasured }) => !isMeasured))
  return [...new Set([...FIGURES_READ, ...inputs.map(({ feature }) => feature)])].toSorted()
}

const QUOTE = 34
const COMMA = 44
const BRACE = 123
const END = 125

const AGE = '"age_days":'
const VALUE = '"value":'
const MISSING = '"missing":'

function readFact(text: string, at: number): Fact | undefined {
  if (text.startsWith(VALUE, at)) {
    const value = readValue(text, at + VALUE.length)
    return value === undefined ? undefined : { value }
  }
  if (text.startsWith(AGE, at)) {
    const from = at + AGE.length
    const comma = text.indexOf(',', from)
    const age_days = numberBetween(text, from, comma)
    if (age_days === undefined || !text.startsWith(VALUE, comma + 1)) return undefined
    const value = readValue(text, comma + 1 + VALUE.length)
    return value === undefined ? undefined : { age_days, value }
  }
  if (!text.startsWith(MISSING, at)) return undefined
  const cause = readValue(text, at + MISSING.length)
  return typeof cause === 'string' ? ({ missing: cause } as Fact) : undefined
}

/** The value that ends the member here; undefined if it is anything but a number, true, false or a text without escapes. */
function readValue(text: string, at: number): number | string | boolean | undefined {
  if (text.charCodeAt(at) === QUOTE) {
    const end = text.indexOf('"', at + 1)
    const value = text.slice(at + 1, end)
    return end > at && text.charCodeAt(end + 1) === END && !value.includes('\\') ? value : undefined
  }
  const end = text.indexOf('}', at)
  if (text.startsWith('true}', at)) return true
  if (text.startsWith('false}', at)) return false
  return numberBetween(text, at, end)
}

const MINUS = 45
const POINT = 46
const ZERO = 48
/** A double holds every integer of so many digits, and every power of ten up to the same exponent. */
const DIGITS_EXACT = 15
const POWERS_OF_TEN = Array.from({ length: DIGITS_EXACT + 1 }, (_, exponent) => 10 ** exponent)

/**
 * The number that these characters write. An integer of at most 15 digits and a power of ten are exact, so their quotient is
 * rounded once, as `JSON.parse` rounds; other numbers are left to `Number`.
 */
function numberBetween(text: string, from: number, to: number): number | undefined {
  const isNegative = text.charCodeAt(from) === MINUS
  const start = isNegative ? from + 1 : from
  let integer = 0
  let digits = 0
  let decimals = -1
  for (let at = start; at < to; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit >= 0 && digit <= 9) {
      integer = integer * 10 + digit
      digits++
      if (decimals >= 0) decimals++
    } else if (digit === POINT - ZERO && decimals < 0) decimals = 0
    else return otherNumber(text.slice(from, to))
  }
  if (digits > DIGITS_EXACT) return otherNumber(text.slice(from, to))
  if (digits === 0 || decimals === 0) return undefined
  const value = decimals < 0 ? integer : integer / POWERS_OF_TEN[decimals]!
  return isNegative ? -value : value
}

/** Numbers with an exponent or many digits, as JSON writes them. */
function otherNumber(text: string): number | undefined {
  const value = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}
