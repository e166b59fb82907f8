import { isDeepStrictEqual } from 'node:util'
import type { DecisionCase } from './decision-case.ts'

/** The part of an evaluation that every engine has to agree on: which rules hold, and the total score. */
export interface Answer {
  hits: string[]
  total: number
}

/** One engine in one mode. */
export interface Engine {
  name: string
  answer(one: DecisionCase): Promise<Answer> | Answer
}

/** Throws unless all engines agree on every case: otherwise the bench would time different work. */
export async function assertAgreement(
  cases: readonly DecisionCase[],
  [first, ...others]: readonly [Engine, ...Engine[]],
): Promise<void> {
  for (const one of cases) {
    const expected = sorted(await first.answer(one))
    for (const other of others) {
      const actual = sorted(await other.answer(one))
      if (isDeepStrictEqual(actual, expected)) continue
      throw new Error(
        `the comparison is void: on '${one.name}' ${first.name} says ${JSON.stringify(expected)}, ` +
          `${other.name} says ${JSON.stringify(actual)}`,
      )
    }
  }
}

function sorted({ hits, total }: Answer): Answer {
  return { hits: hits.toSorted(), total }
}
