import type { CompiledBin } from './compiled-policy.ts'
import type { PolicyCharacteristic } from './policy-document.ts'

/** Turns bins into tests to be asked in order, each with the words for the range it holds. */
export function compileBins(bins: PolicyCharacteristic['bins']): CompiledBin[] {
  return bins.map(({ below, equals, points }, index) => {
    const from = bins[index - 1]?.below
    if (equals !== undefined) return { label: `is ${equals}`, points, holds: (value) => value === equals }
    if (below === undefined)
      return { label: from === undefined ? 'anything' : `${from} or more`, points, holds: () => true }
    const label = from === undefined ? `below ${below}` : `${from} to below ${below}`
    return { label, points, holds: (value) => (value as number) < below }
  })
}
