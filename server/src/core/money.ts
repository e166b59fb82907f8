/**
 * Money as exact integers of a ten-thousandth of a major unit: no currency has more than four decimals (ISO 4217),
 * and integers add up without the rounding of binary floats.
 */
export type Money = bigint

const DECIMALS = 4
const SCALE = 10_000n
const SCALE_NUMBER = 10_000

// A double represents every decimal of 15 significant digits uniquely; with 16, two decimals may be the same double.
const DIGITS_MAX = 15
const EXACT_BELOW = 10 ** DIGITS_MAX

/** The largest amount a request may carry, in major units. */
export const AMOUNT_MAX = 1e12

/** Converts a JSON number exactly as the caller wrote it, or says why it cannot be represented exactly. */
export function parseMoney(amount: number): Money | 'too_many_decimals' | 'too_many_digits' {
  const units = Math.round(amount * SCALE_NUMBER)
  // Division rounds to the nearest double, as parsing a decimal does; if they are equal, no digit was lost.
  if (Math.abs(units) < EXACT_BELOW && units / SCALE_NUMBER === amount) return BigInt(units)
  return parseDecimal(amount)
}

/** The slow path of `parseMoney`: says why an amount is not exact, and converts the few that are. */
function parseDecimal(amount: number): ReturnType<typeof parseMoney> {
  // JSON allows 1e400, which JavaScript parses as infinity.
  if (!Number.isFinite(amount)) return 'too_many_digits'
  const decimal = String(amount)
  // JavaScript writes numbers below 1e-6 and from 1e21 up with an exponent.
  if (decimal.includes('e')) return Math.abs(amount) < 1 ? 'too_many_decimals' : 'too_many_digits'
  const [whole = '0', fraction = ''] = decimal.replace('-', '').split('.')
  if (fraction.length > DECIMALS) return 'too_many_decimals'
  if ((whole + fraction).replace(/^0+/, '').length > DIGITS_MAX) return 'too_many_digits'
  const units = BigInt(whole) * SCALE + BigInt(fraction.padEnd(DECIMALS, '0'))
  return amount < 0 ? -units : units
}

/** Parses the text of `formatMoney` or of a database; sums may have more digits than a number can represent. */
export function moneyOfText(text: string): Money {
  const match = /^(-?)(\d+)(?:\.(\d{1,4}))?$/.exec(text)
  if (!match) throw new RangeError(`${text} is not an amount`)
  const units = BigInt(match[2]!) * SCALE + BigInt((match[3] ?? '').padEnd(DECIMALS, '0'))
  return match[1] ? -units : units
}

/** Converts an amount that validation has already found to be exact. */
export function moneyOf(amount: number): Money {
  const money = parseMoney(amount)
  if (typeof money === 'string') throw new RangeError(`${amount} is not an exact amount: ${money}`)
  return money
}

/** Formats an amount as decimal text without trailing zeros, for databases and people. */
export function formatMoney(money: Money): string {
  const units = money < 0n ? -money : money
  const fraction = (units % SCALE).toString().padStart(DECIMALS, '0').replace(/0+$/, '')
  return `${money < 0n ? '-' : ''}${units / SCALE}${fraction ? `.${fraction}` : ''}`
}

/** The JSON number of an amount; exact for everything `parseMoney` accepts. */
export function moneyNumber(money: Money): number {
  const units = Number(money)
  // Both give the nearest double, but the division is exact only for units that a double represents exactly.
  return Number.isSafeInteger(units) ? units / SCALE_NUMBER : Number(formatMoney(money))
}
