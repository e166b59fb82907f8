import { findFeature } from '../../facts/feature-catalogue.ts'
import type { PolicyDocument } from '../policy-document.ts'
import { binWithoutValue, compileBins } from './compile-bins.ts'
import { halfLives } from './compile-derived.ts'
import {
  type CompiledCharacteristic,
  type CompiledDerived,
  type CompiledPolicy,
  type Reason,
  type ReasonsWithoutValue,
  reasonAt,
} from './compiled-policy.ts'
import type { PolicySlots } from './policy-slots.ts'

/** Compiles the characteristics of the scorecard, each with the reasons that it can give. */
export function compileCharacteristics(
  document: PolicyDocument,
  {
    slots,
    derived,
    amountSlots,
  }: { slots: PolicySlots; derived: readonly CompiledDerived[]; amountSlots: ReadonlySet<number> },
): CompiledCharacteristic[] {
  const { scorecard } = document
  const halfLifeDays = halfLives(document, derived)
  return scorecard.characteristics.map((definition) => {
    const slot = slots.before.get(definition.feature) ?? -1
    const node = `scorecard/${definition.id}`
    const { id, feature, group, reference, spread } = definition
    const { missing, withheld, otherCurrency } = reasonsWithoutValue(document, {
      slot,
      node,
      otherwise: definition.shortfall,
    })
    const unknown = { label: 'missing', points: definition.missing }
    return {
      id,
      label: definition.label ?? findFeature(feature)?.label ?? feature,
      feature,
      group,
      slot,
      dependsOnAmount: amountSlots.has(slot),
      reference,
      bestPoints: Math.max(...definition.bins.map(({ points }) => points)),
      variance: spread * spread,
      halfLifeDays: halfLifeDays.get(slot) ?? null,
      bins: compileBins(definition, {
        lack: reasonAt(node, definition.shortfall, 'negative'),
        strength: reasonAt(node, definition.strength, 'positive'),
      }),
      missingBin: binWithoutValue(unknown, { reference, lack: missing }),
      withheldBin: binWithoutValue(unknown, { reference, lack: withheld }),
      otherCurrencyBin: binWithoutValue(unknown, { reference, lack: otherCurrency }),
      notApplicableBin: binWithoutValue({ label: 'not applicable', points: reference }, { reference, lack: missing }),
    }
  })
}

/** The reasons for the inputs that count for completeness and are not scored, by slot. */
export function compileGapReasons(document: PolicyDocument): CompiledPolicy['gapReasons'] {
  const scored = new Set(document.scorecard.characteristics.map(({ feature }) => feature))
  return new Map(
    document.inputs.flatMap(({ feature, weight, missing }, slot) => {
      const otherwise = document.missing_reasons.find(({ code }) => code === missing)
      if (weight === 0 || scored.has(feature) || otherwise === undefined) return []
      return [[slot, reasonsWithoutValue(document, { slot, node: 'completeness', otherwise })] as const]
    }),
  )
}

/** The reasons for a value that is missing, by cause; `otherwise` where the input names none. */
function reasonsWithoutValue(
  document: PolicyDocument,
  { slot, node, otherwise }: { slot: number; node: string; otherwise: { code: string; label: string } },
): ReasonsWithoutValue {
  const { missing, withheld, other_currency } = codesOf(document, slot)
  const reasonFor = (code: string | undefined): Reason =>
    reasonAt(node, document.missing_reasons.find((one) => one.code === code) ?? otherwise, 'negative')
  return {
    missing: reasonFor(missing),
    withheld: reasonFor(withheld ?? missing),
    otherCurrency: reasonFor(other_currency ?? missing),
  }
}

function codesOf(
  { inputs, derived = [] }: PolicyDocument,
  slot: number,
): { missing?: string; withheld?: string; other_currency?: string } {
  return inputs[slot] ?? derived[slot - inputs.length] ?? {}
}
