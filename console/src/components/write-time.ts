/** How a moment is written: a day, a day with its time, only the time, or how long ago or ahead it is. */
export type TimeStyle = 'date' | 'date-time' | 'time' | 'relative'

/** A moment in UTC, to the second. */
export function utcOf(at: string): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

const DAY = { day: 'numeric', month: 'short' } as const
const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
// Created once: to create a format takes longer than to draw a row of a table.
const FORMATS = {
  time: new Intl.DateTimeFormat('en-GB', { ...CLOCK, second: '2-digit' }),
  date: new Intl.DateTimeFormat('en-GB', DAY),
  'date-time': new Intl.DateTimeFormat('en-GB', { ...DAY, ...CLOCK }),
}
const FORMATS_OF_OTHER_YEARS = {
  ...FORMATS,
  date: new Intl.DateTimeFormat('en-GB', { ...DAY, year: 'numeric' }),
  'date-time': new Intl.DateTimeFormat('en-GB', { ...DAY, ...CLOCK, year: 'numeric' }),
}

/** A moment in the reader's time zone, in words. */
export function writeTime(at: string, as: TimeStyle, nowMs = Date.now()): string {
  const moment = new Date(at)
  if (as === 'relative') return relative(moment.getTime() - nowMs)
  const isThisYear = moment.getFullYear() === new Date(nowMs).getFullYear()
  return (isThisYear ? FORMATS : FORMATS_OF_OTHER_YEARS)[as].format(moment)
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
