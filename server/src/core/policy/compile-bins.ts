import type { CompiledBin } from './compiled-policy.ts'
import type { PolicyCharacteristic } from './policy-document.ts'

/** Turns bins into what to compare a value with, in order, each with the words for the range it holds. */
export function compileBins(bins: PolicyCharacteristic['bins']): CompiledBin[] {
  return bins.map(({ below, equals, points }, index) => ({
    label: equals === undefined ? rangeLabel(bins[index - 1]?.below, below) : `is ${equals}`,
    points,
    equals,
    below,
  }))
}

function rangeLabel(from: number | undefined, below: number | undefined): string {
  if (from === undefined) return below === undefined ? 'anything' : `below ${below}`
  return below === undefined ? `${from} or more` : `${from} to below ${below}`
}
