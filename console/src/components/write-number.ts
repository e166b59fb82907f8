const counts = new Intl.NumberFormat('en-GB')
const shares = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** A count: `1,827`. */
export function writeCount(value: number): string {
  return counts.format(value)
}

/** A share of a whole without its sign: `62.9`; undefined of nothing. */
export function writeShare(part: number, whole: number): string | undefined {
  return whole > 0 ? shares.format((part / whole) * 100) : undefined
}

/** A figure with its sign, `62.9 %`: a no-break space keeps them on one line. */
export function withPercentSign(figure: number | string): string {
  return `${figure}\u00a0%`
}

/** A share of a whole, which is not nothing, in percent: `62.9 %`. */
export function writePercentOf(part: number, whole: number): string {
  return withPercentSign(shares.format((part / whole) * 100))
}

/** Milliseconds with two or three digits: `3.9`, `18.1`, `240`. */
export function writeMs(ms: number): string {
  return ms < 100 ? shares.format(ms) : counts.format(Math.round(ms))
}

/** How long an answer took, with its unit: `912 ms`, `1.2 s`. */
export function writeAnswerTime(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${shares.format(ms / 1_000)} s`
}

/** The same for figures that need not be whole: `0 ms`, `3.9 ms`, `50 ms`, `1.2 s`. */
export function writeLatency(ms: number): string {
  return ms < 100 && !Number.isInteger(ms) ? `${writeMs(ms)} ms` : writeAnswerTime(Math.round(ms))
}

/** An amount of money without cents where there are none: `€20,000`. */
export function writeMoney(amount: number, currency: string): string {
  return moneyFormat(currency, Number.isInteger(amount) ? 0 : 2).format(amount)
}

const moneyFormats = new Map<string, Intl.NumberFormat>()

/** Created once for each currency: to create a format takes longer than to draw a row of a table. */
function moneyFormat(currency: string, minimumFractionDigits: number): Intl.NumberFormat {
  const key = `${currency} ${minimumFractionDigits}`
  const known = moneyFormats.get(key)
  if (known) return known
  const created = new Intl.NumberFormat('en-GB', { style: 'currency', currency, minimumFractionDigits })
  moneyFormats.set(key, created)
  return created
}

/** How long something takes or has lasted: `40 min`, `3 h`, `2 d`. */
export function writeDuration(ms: number): string {
  const minutes = ms / 60_000
  if (minutes < 1) return 'under a minute'
  if (minutes < 60) return `${Math.floor(minutes)} min`
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`
  return `${Math.floor(minutes / 1_440)} d`
}
