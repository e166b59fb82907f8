import { Tooltip } from '@mantine/core'

/** How a moment is written: a day, a day with its time, only the time, or how long ago or ahead it is. */
export type TimeStyle = 'date' | 'date-time' | 'time' | 'relative'

/** A moment in the reader's time zone; hovering or touching it shows UTC. */
export function Time({ at, as = 'date-time', nowMs }: { at: string; as?: TimeStyle; nowMs?: number }) {
  return (
    <Tooltip label={utcOf(at)}>
      <time dateTime={at} className="num nowrap">
        {writeTime(at, as, nowMs)}
      </time>
    </Tooltip>
  )
}

/** A moment in UTC, to the second. */
export function utcOf(at: string): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** A moment in the reader's time zone, in words. */
export function writeTime(at: string, as: TimeStyle, nowMs = Date.now()): string {
  const moment = new Date(at)
  if (as === 'relative') return relative(moment.getTime() - nowMs)
  const sameYear = moment.getFullYear() === new Date(nowMs).getFullYear()
  const day: Intl.DateTimeFormatOptions = {
    day: 'numeric',
    month: 'short',
    ...(sameYear ? {} : { year: 'numeric' }),
  }
  const clock: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
  if (as === 'time') return new Intl.DateTimeFormat('en-GB', { ...clock, second: '2-digit' }).format(moment)
  return new Intl.DateTimeFormat('en-GB', as === 'date' ? day : { ...day, ...clock }).format(moment)
}

/** The units with the least number of each: under two days, hours say more. */
const UNITS = [
  ['day', 86_400_000, 2],
  ['hour', 3_600_000, 1],
  ['minute', 60_000, 1],
] as const
const relativeFormat = new Intl.RelativeTimeFormat('en-GB', { style: 'short', numeric: 'always' })

function relative(differenceMs: number): string {
  for (const [unit, ms, least] of UNITS) {
    if (Math.abs(differenceMs) >= least * ms) return relativeFormat.format(Math.trunc(differenceMs / ms), unit)
  }
  return differenceMs > 0 ? 'in a moment' : 'just now'
}
