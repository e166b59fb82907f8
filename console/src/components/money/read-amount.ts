import { currencyDecimals } from '../../../../server/src/core/schema/currency-decimals.ts'
import { NOTATIONS, type NumberNotation } from './number-notation.ts'

/** What a field takes: in which notation, how many decimals, and of which currency if it is money. */
export interface AmountRules {
  notation: NumberNotation
  decimals: number
  currency?: string | undefined
  /** How the unit is written behind a number that is no money, the form that the field shows first: `%`, or `days` and `day`. */
  units?: readonly string[] | undefined
  /** Whether zero and negative numbers are amounts too. */
  allows?: 'above zero' | 'zero' | 'negative'
}

/** What a text says: one amount, several that it could mean, or why it says none. */
export type Reading =
  | { kind: 'empty' }
  | { kind: 'amount'; amount: number }
  | { kind: 'unclear'; amounts: number[]; why: string }
  | { kind: 'refused'; why: string }

/** The largest amount that the server takes. */
const AMOUNT_MAX = 1e12

/** The rules for an amount of money. */
export function moneyRules(notation: NumberNotation, currency: string): AmountRules {
  return { notation, currency, decimals: currencyDecimals(currency) }
}

/**
 * Reads an amount as a person wrote or pasted it. A text is understood if it is in the person's notation, or if there is only
 * one way to read it; everything else is asked back, never guessed.
 */
export function readAmount(text: string, rules: AmountRules): Reading {
  if (text.trim() === '') return { kind: 'empty' }
  const { isNegative, digits, foreign } = withoutSigns(text, rules)
  if (!/\d/.test(digits)) return refused('Write the amount in digits.')
  if (foreign)
    return refused(
      `Write the ${rules.currency ? `amount in ${rules.currency}` : 'number'} alone, without “${foreign}”.`,
    )
  const stray = /[^\d., ']/u.exec(digits)?.[0]
  if (stray) return refused(`Write the amount in digits, without “${stray}”.`)
  if (isNegative && rules.allows !== 'negative') return refused('The amount cannot be negative.')
  return bounded(readDigits(digits, rules), isNegative, rules)
}

/** Takes sign and unit off a text, and writes all kinds of spaces, apostrophes and hyphens alike. */
function withoutSigns(text: string, rules: AmountRules) {
  // Marks of the direction of writing are pasted along with amounts.
  const visible = text.replace(/[\u061c\u200b\u200e\u200f\u2066-\u2069]/gu, '')
  const amount = withoutUnit(plainly(visible), rules)
    // `13'500.–` and `13.500,-` say that there are no cents.
    .replace(/(?<=\d[.,]) ?[-–—](?=\D*$)/u, '00')
  const [, before = '', digits = '', after = ''] = /^([^\d.,']*)(.*?)([^\d.,']*)$/su.exec(amount) ?? []
  const isNegative = /[-−–—(]/u.test(before + after)
  const foreign = `${before} ${after}`.replace(/[-−–—()+]/gu, ' ').trim()
  return { isNegative, digits, foreign }
}

/** Takes the unit, or the code or a sign of the currency, off the beginning or the end; plus or minus may stand outside of it. */
function withoutUnit(text: string, { currency, units = [] }: AmountRules): string {
  const signs = currency === undefined ? units.map((unit) => unit.toUpperCase()) : signsOf(currency)
  const capitals = text.toUpperCase()
  const first = signs.find((sign) => capitals.replace(/^[-−–—+(] ?/u, '').startsWith(sign))
  // A single letter at the end may be a unit: `13k` in a currency whose sign is K.
  const last = signs.find((sign) => !/^[A-Z]$/.test(sign) && capitals.replace(/ ?[-−–—)]$/u, '').endsWith(sign))
  if (first !== undefined)
    return text.slice(0, capitals.indexOf(first)) + text.slice(capitals.indexOf(first) + first.length)
  if (last === undefined) return text
  return text.slice(0, capitals.lastIndexOf(last)) + text.slice(capitals.lastIndexOf(last) + last.length)
}

/** How a currency is written beside an amount, in capitals and longest first: its code and its signs. */
function signsOf(currency: string): string[] {
  if (!/^[A-Z]{3}$/.test(currency)) return []
  const signs = (['symbol', 'narrowSymbol'] as const).flatMap((currencyDisplay) =>
    new Intl.NumberFormat('en-GB', { style: 'currency', currency, currencyDisplay })
      .formatToParts(1)
      .filter(({ type }) => type === 'currency')
      .map(({ value }) => plainly(value).toUpperCase()),
  )
  return [currency, ...signs].sort((one, other) => other.length - one.length)
}

function plainly(text: string): string {
  return (
    text
      .replace(/\s+/gu, ' ')
      .replace(/[’‘ʼ`´]/gu, "'")
      // The hyphens of other keyboards and programs; dashes and the minus sign are told apart from them below.
      .replace(/[\u2010\u2011\ufe63\uff0d]/gu, '-')
      .trim()
  )
}

/** Reads digits and the marks between them: `.`, `,`, space and apostrophe. */
function readDigits(text: string, rules: AmountRules): Reading {
  const { notation, decimals } = rules
  const signs = NOTATIONS[notation]
  const [ownGroup, ownDecimal] = [plainMark(signs.group), signs.decimal]
  const grouped = withoutGroups(text, notation)
  const [, whole = '', mark, fraction = ''] = /^(.*)([.,])(\d*)$/su.exec(text) ?? []
  // A mark that occurs twice separates groups.
  const isDecimal = mark !== undefined && !whole.includes(mark)
  if (!isDecimal) return grouped === undefined ? refused(BAD_GROUPS) : amountOf(grouped)

  const wholeDigits = whole === '' ? '0' : withoutGroups(whole, notation)
  if (wholeDigits === undefined) return refused(BAD_GROUPS)
  const exact = fitting(fraction, decimals)
  const decimal = exact === undefined ? undefined : Number(`${wholeDigits}.${exact}`)

  if (grouped !== undefined) {
    if (mark === ownGroup) return amountOf(grouped)
    if (mark === ownDecimal && decimals >= GROUP_DIGITS) return amountOf(`${wholeDigits}.${fraction}`)
    return unclear(decimal, Number(grouped), 'The last three digits could be thousands or decimals.')
  }
  if (decimal === undefined) return refused(tooManyDecimals(rules))
  if (fraction.length === GROUP_DIGITS && decimals < GROUP_DIGITS)
    return unclear(decimal, Number(wholeDigits + fraction), 'The last three digits could be thousands or decimals.')
  const isMisplaced = mark === ownGroup && /^\d+$/.test(whole)
  if (!isMisplaced) return { kind: 'amount', amount: decimal }
  const slip =
    fraction.length < GROUP_DIGITS
      ? withoutGroups(whole + mark + fraction.padEnd(GROUP_DIGITS, '0'), notation)
      : undefined
  return unclear(
    decimal,
    slip === undefined ? undefined : Number(slip),
    'In your notation this mark separates thousands.',
  )
}

const GROUP_DIGITS = 3
const BAD_GROUPS = 'The digits are not in groups of three. Write the amount without marks between them.'

/** The digits of a number that is grouped by one mark as people group; undefined if it is not. */
function withoutGroups(text: string, notation: NumberNotation): string | undefined {
  if (/^\d+$/.test(text)) return text
  const mark = /[^\d]/.exec(text)?.[0]
  if (mark === undefined) return undefined
  const groups = text.split(mark)
  const isGrouped = (middle: number) =>
    /^[1-9]\d{0,2}$/.test(groups[0]!) &&
    groups[0]!.length <= middle &&
    groups.slice(1, -1).every((group) => group.length === middle && /^\d+$/.test(group)) &&
    /^\d{3}$/.test(groups.at(-1)!)
  return isGrouped(GROUP_DIGITS) || (notation === 'indian' && isGrouped(2)) ? groups.join('') : undefined
}

/** The decimals that a currency has of a fraction; undefined if others than zeros would be lost. */
function fitting(fraction: string, decimals: number): string | undefined {
  return /^0*$/.test(fraction.slice(decimals)) ? fraction.slice(0, decimals) : undefined
}

function plainMark(sign: string): string {
  return /\s/u.test(sign) ? ' ' : plainly(sign)
}

function bounded(reading: Reading, isNegative: boolean, rules: AmountRules): Reading {
  const { allows = 'above zero' } = rules
  const signed = (amount: number) => (isNegative ? -amount : amount)
  if (reading.kind === 'unclear' && reading.amounts.some((amount) => amount !== 0))
    return { ...reading, amounts: reading.amounts.map(signed) }
  if (reading.kind === 'unclear') return bounded({ kind: 'amount', amount: 0 }, isNegative, rules)
  if (reading.kind !== 'amount') return reading
  const amount = signed(reading.amount)
  if (amount === 0 && allows === 'above zero') return refused('Write more than zero.')
  return Math.abs(amount) > AMOUNT_MAX
    ? refused('The largest amount is a million millions.')
    : { kind: 'amount', amount }
}

function amountOf(digits: string): Reading {
  return { kind: 'amount', amount: Number(digits) }
}

function refused(why: string): Reading {
  return { kind: 'refused', why }
}

function unclear(one: number | undefined, other: number | undefined, why: string): Reading {
  return { kind: 'unclear', amounts: [one, other].filter((amount) => amount !== undefined), why }
}

function tooManyDecimals({ currency, decimals }: AmountRules): string {
  const what = currency ?? 'This number'
  if (decimals === 0) return `${what} has no decimals.`
  return `${what} has at most ${['', 'one decimal', 'two decimals', 'three decimals', 'four decimals'][decimals]}.`
}
