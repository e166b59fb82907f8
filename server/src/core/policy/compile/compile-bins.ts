import type { FactValue } from '../../facts/facts.ts'
import type { PolicyCharacteristic } from '../policy-document.ts'
import type { CompiledBin, Reason, ScoredBin } from './compiled-policy.ts'

/** Compiles bins in their order, each with a label for the range that it holds. */
export function compileBins(
  { bins, reference }: Pick<PolicyCharacteristic, 'bins' | 'reference'>,
  { lack, strength }: { lack: Reason; strength: Reason },
): CompiledBin[] {
  return bins.map(({ below, equals, in: set, points }, index) => ({
    label: setLabel(equals, set) ?? rangeLabel(bins[index - 1]?.below, below),
    points,
    shortfall: reference - points,
    lack: { size: reference - points, reason: lack },
    strength: { size: points - reference, reason: strength },
    equals,
    in: set && new Set(set),
    below,
  }))
}

/** The bin of a value that is missing or does not apply. */
export function binWithoutValue(
  { label, points }: Pick<ScoredBin, 'label' | 'points'>,
  { reference, lack }: { reference: number; lack: Reason },
): ScoredBin {
  const shortfall = reference - points
  return { label, points, shortfall, lack: { size: shortfall, reason: lack }, strength: undefined }
}

function setLabel(equals: FactValue | undefined, set: readonly string[] | undefined): string | undefined {
  if (set !== undefined) return shortened(`is one of ${set.join(', ')}`)
  return equals === undefined ? undefined : shortened(`is ${equals}`)
}

/** The longest label of a bin: every decision records the labels of its bins, and a set may have 300 long texts. */
const LABEL_LENGTH_MAX = 200

function shortened(label: string): string {
  return label.length <= LABEL_LENGTH_MAX ? label : `${label.slice(0, LABEL_LENGTH_MAX - 1).toWellFormed()}…`
}

function rangeLabel(from: number | undefined, below: number | undefined): string {
  if (from === undefined) return below === undefined ? 'anything' : `below ${below}`
  return below === undefined ? `${from} or more` : `${from} to below ${below}`
}
