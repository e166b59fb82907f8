import type { PeerName } from './peers.ts'

/** Whether a low or a high value is better: low for times and sizes, high for rates. */
export type Better = 'lower' | 'higher'

/** One quantity, measured once in every pass. */
export interface Series {
  unit: string
  better: Better
  /** One value per pass. Passes are interleaved, so values at the same index saw the same load on the machine. */
  values: readonly number[]
}

/** What a ratio counts: how many times as fast ours is as the yardstick, or how many times its cost. */
export type RatioKind = 'speed' | 'cost'

/** The bound that a ratio is meant to meet. */
export interface Aim {
  ratio: RatioKind
  atLeast?: number
  atMost?: number
}

/** A series that ours is compared with. */
export interface Yardstick {
  /** The name of the yardstick's series. */
  name: string
  /** The name of our series; `ours` unless a bench has several. */
  ours?: string
  /** The package that the yardstick needs; where it is left out, so is the yardstick. */
  peer?: PeerName
  /** Without an aim, the ratio is only reported. */
  aim?: Aim
}

/** How much to measure, and where to report progress. */
export interface Effort {
  isQuick: boolean
  passes: number
  /** How long each contender runs in each pass. */
  turnMs: number
  /** Prints one line of progress. */
  say(line: string): void
}

/** One point of a chart. */
export interface Point {
  chart: string
  series: string
  x: number
  y: number
}

/** What a bench measured. */
export interface Measured {
  /** Series by name: ours and those of the yardsticks. */
  series: Record<string, Series>
  /** The peers that could not be measured here, each with the reason. */
  leftOut?: Partial<Record<PeerName, string>>
  /** Facts that a reader needs to judge the figures, such as how many cases were compared. */
  notes: string[]
  /** Points for the charts. */
  points?: Point[]
}

/** One entry of the manifest. */
export interface Bench {
  name: string
  what: string
  yardsticks: readonly Yardstick[]
  /** A quick run skips it, unless `--only` names it. */
  isLong?: true
  run(effort: Effort): Promise<Measured>
}
