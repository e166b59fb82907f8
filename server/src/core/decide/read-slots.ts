import type { Fact, FactSet, FactValue, MissingBecause } from '../facts/facts.ts'
import type { CompiledInput, CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { computeSlots, isOutOfRange, type OpenReading } from './compute-slots.ts'
import { isStale } from './read-figures.ts'

/**
 * The policy's inputs, and what it computes from them, as this decision sees them, by slot: a value, perhaps with an age, or
 * why it is missing.
 */
export interface SlotReading {
  /** Also has room for the variables of the judged amount, which `fillVariables` fills in. */
  values: (FactValue | undefined)[]
  ages: readonly (number | undefined)[]
  missing: readonly (MissingBecause | undefined)[]
  /** The slots of inputs without a value. */
  gaps: readonly number[]
}

/** Reads every input of the policy once: from the facts, or from what was measured for this request. */
export function readSlots(policy: CompiledPolicy, features: FactSet, measured: FactSet): SlotReading {
  const { inputs, measuredSlots, computed, slots } = policy
  const reading = {
    values: new Array<FactValue | undefined>(slots.names.length),
    ages: new Array<number | undefined>(inputs.length),
    missing: new Array<MissingBecause | undefined>(inputs.length),
    gaps: [] as number[],
  }
  readFacts(policy.inputsByName, features, reading)
  for (const slot of measuredSlots) readFact(inputs[slot]!, measured[inputs[slot]!.feature], reading)
  for (let slot = 0; slot < inputs.length; slot++) if (reading.values[slot] === undefined) reading.gaps.push(slot)
  computeSlots(computed, reading)
  return reading
}

/**
 * Facts are made and recorded in the order of their names, so going through both lists at once finds the inputs: to look up
 * each of 35 names among 57 took 40 % longer. What is absent or in another place is looked up, with all that follows it.
 */
function readFacts(inputsByName: readonly CompiledInput[], features: FactSet, reading: OpenReading): void {
  let next = 0
  for (const name in features) {
    const input = inputsByName[next]
    if (input === undefined) return
    if (input.feature !== name) continue
    readFact(input, features[name], reading)
    next += 1
  }
  for (const input of inputsByName.slice(next)) readFact(input, features[input.feature], reading)
}

function readFact(input: CompiledInput, fact: Fact | undefined, { values, ages, missing }: OpenReading): void {
  const { slot } = input
  if (isAccepted(fact, input)) {
    values[slot] = fact.value
    ages[slot] = fact.age_days
  } else missing[slot] = whyMissing(fact, input)
}

/** Reads the inputs for another amount: only what depends on it differs, and inputs are missing for the same reasons. */
export function readAgain(
  policy: CompiledPolicy,
  reading: SlotReading,
  { measured, amount }: { measured: FactSet; amount: number },
): SlotReading {
  const values = reading.values.slice()
  for (const slot of policy.measuredSlots) {
    const fact = measured[policy.inputs[slot]!.feature]
    if (values[slot] !== undefined && fact !== undefined && 'value' in fact) values[slot] = fact.value
  }
  if (policy.amountSlot !== undefined && values[policy.amountSlot] !== undefined) values[policy.amountSlot] = amount
  if (policy.computedFromAmount.length === 0) return { ...reading, values }
  const again = { values, ages: reading.ages.slice(), missing: reading.missing.slice(), gaps: reading.gaps }
  computeSlots(policy.computedFromAmount, again)
  return again
}

type KnownFact = Extract<Fact, { value: FactValue }>

/** Accepts a value of the type that the policy declares, unless it is too old or no probability where one is expected. */
function isAccepted(fact: Fact | undefined, input: CompiledInput): fact is KnownFact {
  if (fact === undefined || !('value' in fact) || isStale(fact.age_days, input.maxAgeDays)) return false
  return isOfType(fact.value, input.type) && !(input.isProbability && isOutOfRange(fact.value))
}

function whyMissing(fact: Fact | undefined, { type, maxAgeDays }: CompiledInput): MissingBecause {
  if (fact === undefined) return 'no_data'
  if (!('value' in fact)) return fact.missing
  if (isStale(fact.age_days, maxAgeDays)) return 'stale'
  return isOfType(fact.value, type) ? 'out_of_range' : 'wrong_type'
}

/** Nearly all inputs are numbers, and V8 tells a number without naming its type. */
function isOfType(value: FactValue, type: CompiledInput['type']): boolean {
  return type === 'number' ? typeof value === 'number' : typeof value === type
}
