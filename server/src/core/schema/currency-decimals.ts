/**
 * The currencies of ISO 4217 whose minor unit is not a hundredth. A list of our own, because browsers disagree: Chromium gives
 * some, such as IQD and AFN, the decimals that are customary instead of those of the standard.
 */
const DECIMALS: ReadonlyMap<string, number> = new Map([
  ...ofDecimals(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
  ...ofDecimals(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...ofDecimals(4, 'CLF UYW'),
])

/** How many decimals an amount of a currency can have. */
export function currencyDecimals(currency: string): number {
  return DECIMALS.get(currency) ?? 2
}

/** Whether an amount is a whole number of minor units of its currency. */
export function isInMinorUnits(amount: number, currency: string): boolean {
  return amount === Number(amount.toFixed(currencyDecimals(currency)))
}

function ofDecimals(decimals: number, codes: string): [string, number][] {
  return codes.split(' ').map((code) => [code, decimals])
}
