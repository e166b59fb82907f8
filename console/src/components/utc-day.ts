const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const longDay = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })
const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const longHour = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** A day, which is counted in UTC: `11 Nov`, or `Wed 11 Nov`. */
export function writeUtcDay(at: string, long = false): string {
  return (long ? longDay : day).format(new Date(at))
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

/** Today, in UTC. */
export function utcToday(): string {
  return new Date().toISOString().slice(0, 10)
}
