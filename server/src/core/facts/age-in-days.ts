const DAY_MS = 86_400_000

/** Whole days from an instant to now; 0 for an instant in the future. */
export function ageInDays(instant: string, now: string): number {
  return Math.max(0, Math.floor((Date.parse(now) - Date.parse(instant)) / DAY_MS))
}
