/** A share in percent, with at most and at least so many decimals: `12.5 %`. */
export function percent(share: number, digitsMax: number, digitsMin = 0): string {
  const digits = { maximumFractionDigits: digitsMax, minimumFractionDigits: digitsMin, useGrouping: false }
  return `${(share * 100).toLocaleString('en', digits)} %`
}
