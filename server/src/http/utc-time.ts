/** Any ISO 8601 moment in the one form that is stored, compared and returned: UTC with milliseconds. */
export function utcTime(text: string): string {
  return new Date(text).toISOString()
}
