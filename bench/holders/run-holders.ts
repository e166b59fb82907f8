import type { Effort, Measured } from '../bench.ts'
import { type MeasuredService, startMeasuredService } from '../load/measured-service.ts'

/** Holders of each kind that are timed in a pass. */
const TIMED = 10

/** Measures how long it takes to give an identifier to one more entity: to its third holder, and to its 240th. */
export async function runHolders(effort: Effort): Promise<Measured> {
  const service = await startMeasuredService('postgres')
  try {
    const passes = effort.isQuick ? 3 : effort.passes
    const measured = { few: [] as number[], many: [] as number[] }
    for (let pass = 0; pass < passes; pass++) {
      effort.say(`  pass ${pass + 1} of ${passes}`)
      const third: number[] = []
      for (let identifier = 0; identifier < TIMED; identifier++)
        third.push((await addHolders(service, `few-${pass}-${identifier}`, 3)).at(-1)!)
      const times = await addHolders(service, `many-${pass}`, 240 + TIMED)
      measured.few.push(median(third))
      measured.many.push(median(times.slice(-TIMED)))
    }
    const time = (values: number[]) => ({ unit: 'ms', better: 'lower' as const, values })
    return {
      series: { 'third holder': time(measured.few), '240th holder': time(measured.many) },
      notes: [
        `each value is the median of ${TIMED} requests, one after the other; the identifier is a verified device`,
      ],
    }
  } finally {
    await service.stop()
  }
}

/** Gives an identifier to new entities, one after the other; returns how long each took, in milliseconds. */
async function addHolders(service: MeasuredService, name: string, number: number): Promise<number[]> {
  const times: number[] = []
  const body = { identifier: { type: 'device', value: name }, verification: { status: 'verified' } }
  for (let holder = 1; holder <= number; holder++) {
    const { id } = await service.post<{ id: string }>('/v1/entities', { external_id: `${name}-${holder}` })
    const started = performance.now()
    await service.post(`/v1/entities/${id}/identity-links`, body)
    times.push(performance.now() - started)
  }
  return times
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
}
