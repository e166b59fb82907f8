import { currencyDecimals } from '../../../server/src/core/schema/currency-decimals.ts'
import { currentNotation, NOTATIONS, type NumberNotation } from './money/number-notation.ts'

/** A number with the fraction digits that the options ask for, in the notation of the person at the page unless another is named. */
export function writeNumber(
  value: number,
  options: Intl.NumberFormatOptions = {},
  notation: NumberNotation = currentNotation(),
): string {
  const { group, decimal, grouping } = NOTATIONS[notation]
  const signs: Partial<Record<string, string>> = { group, decimal, minusSign: MINUS }
  // The short form of thousands is `T` in some locales, which others read as a million millions.
  return formatOf(options.notation === 'compact' ? 'en-GB' : grouping, options)
    .formatToParts(value)
    .map((part) => signs[part.type] ?? part.value)
    .join('')
}

/** The minus sign, as wide as a plus; a hyphen may end a line. */
const MINUS = '\u2212'

const formats = new Map<string, Intl.NumberFormat>()

/** Created once for each set of options: to create a format takes longer than to draw a row of a table. */
function formatOf(grouping: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${grouping} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known) return known
  const created = new Intl.NumberFormat(grouping, options)
  formats.set(key, created)
  return created
}

/** A count: `1,827`. */
export function writeCount(value: number): string {
  return writeNumber(value)
}

/** A number with exactly so many decimals: `0.50`. */
export function writeFixed(value: number, decimals: number): string {
  return writeNumber(value, { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
}

const COMPACT = { notation: 'compact', maximumSignificantDigits: 3 } as const
/** Up to here a count is as short in full. */
const SHORT_FROM = 10_000

/** A count as an axis names it: `1,827`, `12k`, `1.5m`. */
export function writeShortCount(value: number): string {
  return Math.abs(value) < SHORT_FROM ? writeCount(value) : writeNumber(value, COMPACT)
}

/** An amount of money as an axis names it: `€500`, `€20k`, `€1.5m`. */
export function writeShortMoney(amount: number, currency: string): string {
  return writeNumber(amount, { ...COMPACT, style: 'currency', currency })
}

/** A share of a whole without its sign: `62.9`; undefined of nothing. */
export function writeShare(part: number, whole: number): string | undefined {
  return whole > 0 ? writeFixed((part / whole) * 100, 1) : undefined
}

/** A figure with its sign, `62.9 %`: a no-break space keeps them on one line. */
export function withPercentSign(figure: number | string): string {
  return `${figure}\u00a0%`
}

/** A share in percent, with at most and at least so many decimals: `62.9 %`, `50 %`. */
export function writePercent(share: number, digitsMax = 1, digitsMin = 0): string {
  return withPercentSign(
    writeNumber(share * 100, { maximumFractionDigits: digitsMax, minimumFractionDigits: digitsMin }),
  )
}

/** A measured rate, 0 to 1, always with one decimal: `62.9 %`, `50.0 %`. */
export function writeRate(rate: number): string {
  return writePercent(rate, 1, 1)
}

/** The rate of a part in a whole, which is not nothing: `62.9 %`, `50.0 %`. */
export function writePercentOf(part: number, whole: number): string {
  return writeRate(part / whole)
}

/** Milliseconds with two or three digits: `3.9`, `18.1`, `240`. */
export function writeMs(ms: number): string {
  return ms < 100 ? writeFixed(ms, 1) : writeCount(Math.round(ms))
}

/** How long an answer took, with its unit: `912 ms`, `1.2 s`. */
export function writeAnswerTime(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${writeFixed(ms / 1_000, 1)} s`
}

/** The same for figures that need not be whole: `0 ms`, `3.9 ms`, `50 ms`, `1.2 s`. */
export function writeLatency(ms: number): string {
  return ms < 100 && !Number.isInteger(ms) ? `${writeMs(ms)} ms` : writeAnswerTime(Math.round(ms))
}

/** An amount of money without cents where there are none: `€20,000`. */
export function writeMoney(amount: number, currency: string): string {
  return writeNumber(amount, { style: 'currency', currency, ...fractionOf(amount, currencyDecimals(currency)) })
}

/** An amount as a field shows it, without the sign of its currency: `20,000`, `20,000.50`. */
export function writeAmount(amount: number, decimals: number): string {
  return writeNumber(amount, fractionOf(amount, decimals))
}

function fractionOf(amount: number, decimals: number): Intl.NumberFormatOptions {
  return { minimumFractionDigits: Number.isInteger(amount) ? 0 : decimals, maximumFractionDigits: decimals }
}

/** How long something takes or has lasted: `40 min`, `3 h`, `2 d`. */
export function writeDuration(ms: number): string {
  const minutes = ms / 60_000
  if (minutes < 1) return 'under a minute'
  if (minutes < 60) return `${Math.floor(minutes)} min`
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`
  return `${Math.floor(minutes / 1_440)} d`
}
