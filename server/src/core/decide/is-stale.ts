/** Whether a value is older than a policy accepts; never true without an age or without a maximum. */
export function isStale(ageDays: number | undefined, maxAgeDays: number | undefined): boolean {
  return ageDays !== undefined && maxAgeDays !== undefined && ageDays > maxAgeDays
}
