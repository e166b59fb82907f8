import { hash } from 'node:crypto'

/** A source of chance that repeats itself for the same seed. */
export interface Random {
  /** From 0 up to 1, uniformly distributed. */
  next(): number
  /** A whole number from `from` up to and including `to`. */
  whole(from: number, to: number): number
  /** An amount from `from` to `to`, rounded to cents. */
  amount(from: number, to: number): number
  chance(probability: number): boolean
  pick<T>(values: readonly T[]): T
  /** Picks a value with a probability in proportion to its weight. */
  weighted<T>(values: readonly T[], weightOf: (value: T) => number): T
}

/** The random numbers of one name, so that one part of the plan does not shift the numbers of another. */
export function randomOf(...name: (string | number)[]): Random {
  // sfc32 by Chris Doty-Humphrey: small, fast, and passes PractRand; nothing here needs to be secret.
  const seed = hash('sha256', name.join(' '), 'buffer')
  let [a, b, c, count] = [seed.readInt32LE(0), seed.readInt32LE(4), seed.readInt32LE(8), 1]
  const next = () => {
    const sum = (a + b + count++) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return (sum >>> 0) / 2 ** 32
  }
  const weighted: Random['weighted'] = (values, weightOf) => {
    const total = values.reduce((sum, value) => sum + weightOf(value), 0)
    let left = next() * total
    for (const value of values) {
      left -= weightOf(value)
      if (left < 0) return value
    }
    return values.at(-1)!
  }
  return {
    next,
    whole: (from, to) => from + Math.floor(next() * (to - from + 1)),
    amount: (from, to) => Math.round((from + next() * (to - from)) * 100) / 100,
    chance: (probability) => next() < probability,
    pick: (values) => values[Math.floor(next() * values.length)]!,
    weighted,
  }
}
