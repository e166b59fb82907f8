import { isDeepStrictEqual } from 'node:util'
import type { DecisionCase } from './decision-case.ts'

/** What every engine has to agree on: which rules hold, and the total score. */
export interface Answer {
  hits: string[]
  total: number
}

/** One way to decide. */
export interface Engine {
  name: string
  answer(one: DecisionCase): Promise<Answer> | Answer
}

/** Refuses to measure engines that do not agree on every case: their times would not be of the same work. */
export async function assertAgreement(
  cases: readonly DecisionCase[],
  [first, ...others]: readonly [Engine, ...Engine[]],
): Promise<void> {
  for (const one of cases) {
    const expected = inOrder(await first.answer(one))
    for (const other of others) {
      const actual = inOrder(await other.answer(one))
      if (isDeepStrictEqual(actual, expected)) continue
      throw new Error(
        `the comparison is void: on '${one.name}' ${first.name} says ${JSON.stringify(expected)}, ` +
          `${other.name} says ${JSON.stringify(actual)}`,
      )
    }
  }
}

function inOrder({ hits, total }: Answer): Answer {
  return { hits: hits.toSorted(), total }
}
