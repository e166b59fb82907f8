/** A calendar month in UTC, as `2026-03`. */
export type Month = string

/** The month an instant falls in. */
export function monthOf(instant: string): Month {
  return instant.slice(0, 7)
}

/** The number of a month; consecutive months have consecutive numbers. */
export function monthIndex(month: Month): number {
  return Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7)) - 1
}
