/**
 * Money as exact integers of a ten-thousandth of a major unit: no currency has more than four decimals (ISO 4217),
 * and integers add up without the rounding of binary floats.
 */
export type Money = bigint

const DECIMALS = 4
const SCALE = 10_000n
const SCALE_NUMBER = 10_000

// A double tells 15 significant digits apart; a 16th may already be somebody else's number.
const DIGITS_MAX = 15
const EXACT_BELOW = 10 ** DIGITS_MAX

/** The largest amount a request may carry, in major units. */
export const AMOUNT_MAX = 1e12

/** Reads a JSON number exactly as the caller wrote it, or says why it cannot be held exactly. */
export function parseMoney(amount: number): Money | 'too_many_decimals' | 'too_many_digits' {
  const units = Math.round(amount * SCALE_NUMBER)
  // Division rounds to the nearest double, as reading a decimal does: equal means that no digit was left out.
  if (Math.abs(units) < EXACT_BELOW && units / SCALE_NUMBER === amount) return BigInt(units)
  return parseDecimal(amount)
}

/** Says what is wrong with an amount that does not fit, and reads the few that do after all. */
function parseDecimal(amount: number): ReturnType<typeof parseMoney> {
  // JSON can write 1e400, which JavaScript reads as infinity.
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

/** Reads the decimal text that `formatMoney` writes, or a database's; sums may have more digits than a number can hold. */
export function moneyOfText(text: string): Money {
  const match = /^(-?)(\d+)(?:\.(\d{1,4}))?$/.exec(text)
  if (!match) throw new RangeError(`${text} is not an amount`)
  const units = BigInt(match[2]!) * SCALE + BigInt((match[3] ?? '').padEnd(DECIMALS, '0'))
  return match[1] ? -units : units
}

/** Reads an amount that validation has already found exact. */
export function moneyOf(amount: number): Money {
  const money = parseMoney(amount)
  if (typeof money === 'string') throw new RangeError(`${amount} is not an exact amount: ${money}`)
  return money
}

/** The decimal text that a database and a person read, without trailing zeros. */
export function formatMoney(money: Money): string {
  const units = money < 0n ? -money : money
  const fraction = (units % SCALE).toString().padStart(DECIMALS, '0').replace(/0+$/, '')
  return `${money < 0n ? '-' : ''}${units / SCALE}${fraction ? `.${fraction}` : ''}`
}

/** The JSON number of an amount; exact for everything `parseMoney` accepts. */
export function moneyNumber(money: Money): number {
  const units = Number(money)
  // Both give the double next to the decimal, but only what a double holds to the unit can be divided.
  return Number.isSafeInteger(units) ? units / SCALE_NUMBER : Number(formatMoney(money))
}
