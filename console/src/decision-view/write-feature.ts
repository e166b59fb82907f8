import { writeCount, writeMoney, writeNumber, writePercent } from '../components/write-number.ts'
import type { ViewData } from './view-data.ts'

type Value = string | number | boolean | null

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
    if (!RANGE.test(bin)) return bin
    // Bounds of other units stand without it, but in the notation of the person all the same.
    const ofUnit = unit === 'share' || unit === 'money' ? unit : null
    return bin.replace(NUMBERS, (number) => writeValue(Number(number), ofUnit, requested?.currency))
  }
}

const RANGE = /^(below \S+|\S+ or more|\S+ to below \S+)$/
const NUMBERS = /-?\d+(\.\d+)?/g

/** A number with at most three decimals. */
export function writeDecimal(value: number): string {
  return writeNumber(value, { maximumFractionDigits: 3 })
}

/** Points with their sign: `+52`, `−7`. */
export function writePoints(points: number): string {
  return writeNumber(points, { maximumFractionDigits: 3, signDisplay: 'always' })
}

/** A value of a feature in its unit, as the catalogue of the server names it. */
export function writeValue(value: Value, unit: string | null, currency: string | undefined): string {
  if (value === null) return 'missing'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return value
  if (unit === 'money' && currency) return writeMoney(value, currency)
  if (unit === 'share') return writePercent(value)
  // Three digits say what a ratio is; `30.937 ×` is no truer than `30.9 ×`.
  if (unit === 'ratio') return `${writeNumber(value, { maximumSignificantDigits: 3 })} ×`
  if (unit === 'days') return `${writeDecimal(value)} ${value === 1 ? 'day' : 'days'}`
  return Number.isInteger(value) ? writeCount(value) : writeDecimal(value)
}
