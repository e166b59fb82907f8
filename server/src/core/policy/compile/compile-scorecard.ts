import type { PolicyDocument } from '../policy-document.ts'
import { binWithoutValue, compileBins } from './compile-bins.ts'
import { halfLives } from './compile-derived.ts'
import { type CompiledCharacteristic, type CompiledDerived, type Reason, reasonAt } from './compiled-policy.ts'
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
  const { scorecard, missing_reasons } = document
  const halfLifeDays = halfLives(document, derived)
  return scorecard.characteristics.map((definition) => {
    const slot = slots.before.get(definition.feature) ?? -1
    const node = `scorecard/${definition.id}`
    const reasonFor = (...codes: (string | undefined)[]): Reason => {
      const code = codes.find((one) => one !== undefined)
      const reason = missing_reasons.find((one) => one.code === code) ?? definition.shortfall
      return reasonAt(node, reason, 'negative')
    }
    const { missing, withheld, other_currency } = codesOf(document, slot)
    const { id, feature, group, reference, spread } = definition
    const whyMissing = reasonFor(missing)
    const unknown = { label: 'missing', points: definition.missing }
    return {
      id,
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
      missingBin: binWithoutValue(unknown, { reference, lack: whyMissing }),
      withheldBin: binWithoutValue(unknown, { reference, lack: reasonFor(withheld, missing) }),
      otherCurrencyBin: binWithoutValue(unknown, { reference, lack: reasonFor(other_currency, missing) }),
      notApplicableBin: binWithoutValue(
        { label: 'not applicable', points: reference },
        { reference, lack: whyMissing },
      ),
    }
  })
}

function codesOf(
  { inputs, derived = [] }: PolicyDocument,
  slot: number,
): { missing?: string; withheld?: string; other_currency?: string } {
  return inputs[slot] ?? derived[slot - inputs.length] ?? {}
}
