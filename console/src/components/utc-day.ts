const DAY = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const
const day = new Intl.DateTimeFormat('en-GB', DAY)
const longDay = new Intl.DateTimeFormat('en-GB', { ...DAY, weekday: 'short' })
const dayOfYear = new Intl.DateTimeFormat('en-GB', { ...DAY, year: 'numeric' })
const longDayOfYear = new Intl.DateTimeFormat('en-GB', { ...DAY, weekday: 'short', year: 'numeric' })
const month = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' })
const longMonth = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const longHour = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** A day, which is counted in UTC: `11 Nov`, or `Wed 11 Nov`; with its year, if that is not the present one. */
export function writeUtcDay(at: string, long = false, nowMs = Date.now()): string {
  const date = new Date(at)
  if (date.getUTCFullYear() === new Date(nowMs).getUTCFullYear()) return (long ? longDay : day).format(date)
  return (long ? longDayOfYear : dayOfYear).format(date)
}

/** A month, such as `2026-11`, counted in UTC: `Nov 2026`, or `November 2026`. */
export function writeUtcMonth(at: string, long = false): string {
  return (long ? longMonth : month).format(new Date(`${at}-01T00:00:00.000Z`))
}

/** The beginning of an hour in the reader's time zone: `14:00`, or `Wed 14:00`. */
export function writeHour(at: string, long = false): string {
  return (long ? longHour : hour).format(new Date(at))
}

/** A day as the URL has it, some days before another: `2026-11-09`. */
export function dayBefore(date: string, days: number): string {
  return new Date(Date.parse(date) - days * 86_400_000).toISOString().slice(0, 10)
}

/** A day of the URL, or another where it is missing or cannot be read. */
export function dayOr(text: string | undefined, fallback: string): string {
  const isDay = text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
  return isDay ? text : fallback
}

/** When a day of the URL begins in UTC, some days later. A moment, or text that is no day, stays as it is. */
export function startOfUtcDay(date: string, daysLater: number): string {
  return dayOr(date, '') === '' ? date : `${dayBefore(date, -daysLater)}T00:00:00.000Z`
}

/** Today, in UTC. */
export function utcToday(): string {
  return new Date().toISOString().slice(0, 10)
}
