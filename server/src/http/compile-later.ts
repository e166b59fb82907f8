import { setImmediate as nextTurn } from 'node:timers/promises'

/** The compilations that were put off and have not been needed yet. */
const putOff = new Set<() => unknown>()

/**
 * Puts off a compilation until its result is first called, or `compileAll` runs. Compiling the schemas of all endpoints
 * takes a fifth of a second of processor time, and a start would wait for it.
 */
export function compileLater<Args extends unknown[], Result>(
  compile: () => (...args: Args) => Result,
): (...args: Args) => Result {
  let compiled: ((...args: Args) => Result) | undefined
  const compileNow = () => {
    compiled ??= compile()
    putOff.delete(compileNow)
    return compiled
  }
  putOff.add(compileNow)
  return (...args) => (compiled ?? compileNow())(...args)
}

/** Compiles what was put off, one schema in each turn of the event loop, so that requests are answered in between. */
export async function compileAll(): Promise<void> {
  const errors: unknown[] = []
  for (const compileNow of putOff) {
    try {
      compileNow()
    } catch (error) {
      errors.push(error)
    }
    await nextTurn()
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} schemas cannot be compiled`)
}
