import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { REQUEST_FIGURES } from '../policy/compile/policy-slots.ts'
import type { Slots } from '../policy/expression/compile-expression.ts'
import type { Assessment } from './assess.ts'

/** The values that meanings are checked on: those of the requested amount, and the figures of the request itself. */
export function meaningValues({ slots }: CompiledPolicy, { reading, figures, request }: Assessment): Slots {
  const { values } = reading
  for (const name of REQUEST_FIGURES) {
    const fact = request[name]
    values[slots.meanings.get(name)!] =
      name === 'request.amount' ? figures.amount : fact !== undefined && 'value' in fact ? fact.value : undefined
  }
  return values
}
