import type { CompiledBin } from './compiled-policy.ts'
import type { PolicyCharacteristic } from './policy-document.ts'

/** Compiles bins in their order, each with a label for the range that it holds. */
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
