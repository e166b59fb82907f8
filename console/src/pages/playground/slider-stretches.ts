import { percentScale } from '../../components/charts/layout/percent-scale.ts'
import type { Slider } from './playground-request.ts'

/** The stretches of a slider's track with one verdict each, in percent of its length. */
export function stretchesOf({ from, to, track }: Pick<Slider, 'from' | 'to' | 'track'>) {
  const place = percentScale(from, to)
  return track.map(({ from: start, verdict }, index) => ({
    start,
    verdict,
    left: place(flipAt(track, index)),
    right: place(flipAt(track, index + 1)),
  }))
}

/** Where a stretch begins: between its first value and the last one of the stretch before, so that one value has a width. */
function flipAt(track: Slider['track'], index: number): number {
  const [before, after] = [track[index - 1], track[index]]
  if (!before || !after) return after?.from ?? before!.to
  return (before.to + after.from) / 2
}
