/** Whether a value is older than a policy accepts; one without an age, or without a bound, never is. */
export function isStale(ageDays: number | undefined, maxAgeDays: number | undefined): boolean {
  return ageDays !== undefined && maxAgeDays !== undefined && ageDays > maxAgeDays
}
