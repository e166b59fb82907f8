import type { PeerName } from './peers.ts'

/** How the value of a series is read: seconds and bytes are better low, rates are better high. */
export type Better = 'lower' | 'higher'

/** One thing measured pass after pass. */
export interface Series {
  unit: string
  better: Better
  /** One value per pass. Passes are interleaved, so values at the same index saw the same weather on the machine. */
  values: readonly number[]
}

/** How ours is set against a yardstick: how many times as fast it is, or how many times as much it costs. */
export type RatioKind = 'speed' | 'cost'

/** What a ratio has to reach. */
export interface Aim {
  ratio: RatioKind
  atLeast?: number
  atMost?: number
}

/** A series that ours is set against. */
export interface Yardstick {
  /** The name of the yardstick's series. */
  name: string
  /** The name of our series; `ours` unless a bench has several. */
  ours?: string
  /** The package that the yardstick needs; where it is left out, so is the yardstick. */
  peer?: PeerName
  /** Without an aim the ratio is reported for what it is worth. */
  aim?: Aim
}

/** How long to measure. */
export interface Effort {
  isQuick: boolean
  passes: number
  /** How long each contender runs in each pass. */
  turnMs: number
  /** Tells the person waiting what is going on. */
  say(line: string): void
}

/** One point of a chart. */
export interface Point {
  chart: string
  series: string
  x: number
  y: number
}

/** What a bench found. */
export interface Measured {
  /** Series by name: our own and those of the yardsticks. */
  series: Record<string, Series>
  /** The peers that could not be measured here, each with the reason. */
  leftOut?: Partial<Record<PeerName, string>>
  /** What a reader must know to judge the figures, such as how many cases were compared. */
  notes: string[]
  /** What is drawn besides the table. */
  points?: Point[]
}

/** One line of the manifest. */
export interface Bench {
  name: string
  what: string
  yardsticks: readonly Yardstick[]
  /** A quick run leaves it out, unless it is asked for by name. */
  isLong?: true
  run(effort: Effort): Promise<Measured>
}
