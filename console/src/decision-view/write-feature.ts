import { withPercentSign, writeCount, writeMoney } from '../components/write-number.ts'
import type { ViewData } from './view-data.ts'

type Value = string | number | boolean | null

const decimals = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 3 })
/** Three digits say what a ratio is; `30.937 ×` is no truer than `30.9 ×`. */
const ratios = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 3 })
const percents = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 })

/** Writes values of features in their units, in the currency of the request. */
export function featureWriter({ features, requested }: Pick<ViewData, 'features' | 'requested'>) {
  const units = new Map(features.map(({ feature, unit }) => [feature, unit]))
  return (feature: string, value: Value): string => writeValue(value, units.get(feature) ?? null, requested?.currency)
}

/** Writes the range of a bin in the unit of its feature: `below 10 %` rather than `below 0.1`. */
export function binWriter({ features, requested }: Pick<ViewData, 'features' | 'requested'>) {
  const units = new Map(features.map(({ feature, unit }) => [feature, unit]))
  return (feature: string, bin: string): string => {
    const unit = units.get(feature) ?? null
    if (!RANGE.test(bin) || (unit !== 'share' && unit !== 'money')) return bin
    return bin.replace(NUMBERS, (number) => writeValue(Number(number), unit, requested?.currency))
  }
}

const RANGE = /^(below \S+|\S+ or more|\S+ to below \S+)$/
const NUMBERS = /-?\d+(\.\d+)?/g

/** A share in percent: `64.6 %`. */
export function writePercent(share: number): string {
  return withPercentSign(percents.format(share * 100))
}

/** A number with at most three decimals. */
export function writeDecimal(value: number): string {
  return decimals.format(value)
}

/** Points with their sign: `+52`, `−7`. */
export function writePoints(points: number): string {
  return points < 0 ? `−${decimals.format(-points)}` : `+${decimals.format(points)}`
}

function writeValue(value: Value, unit: string | null, currency: string | undefined): string {
  if (value === null) return 'missing'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return value
  if (unit === 'money' && currency) return writeMoney(value, currency)
  if (unit === 'share') return writePercent(value)
  if (unit === 'ratio') return `${ratios.format(value)} ×`
  if (unit === 'days') return `${decimals.format(value)} ${value === 1 ? 'day' : 'days'}`
  return Number.isInteger(value) ? writeCount(value) : decimals.format(value)
}
