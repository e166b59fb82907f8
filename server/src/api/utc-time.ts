/** Converts an ISO 8601 time to the one form that is stored, compared and returned: UTC with milliseconds. */
export function utcTime(text: string): string {
  return NORMALIZED.test(text) ? text : new Date(text).toISOString()
}

/** Nearly all times arrive in this form and need no conversion; validation has refused days that do not exist. */
const NORMALIZED = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
