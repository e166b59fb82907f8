import type { Effort, Series } from '../bench.ts'
import { underwritings } from '../load/applicants.ts'
import { driveClosed } from '../load/drive.ts'
import type { MeasuredService } from '../load/measured-service.ts'
import { percentile } from '../statistics.ts'

/** One entity in one store, and how many rows of one kind that store or entity has. */
export interface Place {
  /** The kind of rows that grows, and the name of the line in the chart. */
  of: string
  size: number
  service: MeasuredService
  entityId: string
}

/** Enough to keep the service busy, too few to make requests queue. */
const CONNECTIONS = 4

const WARM_UP_PASSES = 2

/** Asks every place for decisions in turn, in interleaved passes, and returns its median latency in each pass. */
export async function measureSizes(
  places: readonly Place[],
  { passes, turnMs, say }: Pick<Effort, 'passes' | 'turnMs' | 'say'>,
): Promise<Map<Place, Series>> {
  const asked = places.map((place) => {
    const { of, size, service, entityId } = place
    return { place, next: underwritings(service.key, [entityId], `${of} ${size}`), medians: [] as number[] }
  })
  for (let pass = -WARM_UP_PASSES; pass < passes; pass++) {
    say(pass < 0 ? '  warming up' : `  pass ${pass + 1} of ${passes}`)
    for (let turn = 0; turn < asked.length; turn++) {
      const { place, next, medians } = asked[(pass + WARM_UP_PASSES + turn) % asked.length]!
      const driven = await driveClosed(place.service.port, { connections: CONNECTIONS, forMs: turnMs, next })
      const refused = Object.keys(driven.refused)
      if (refused.length > 0)
        throw new Error(`underwriting with ${place.size} ${place.of} was answered with status ${refused}`)
      if (pass >= 0) medians.push(percentile(driven.latenciesMs, 0.5))
    }
  }
  return new Map(asked.map(({ place, medians }) => [place, { unit: 'ms', better: 'lower', values: medians }]))
}
