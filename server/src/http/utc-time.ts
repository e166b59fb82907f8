/** Any ISO 8601 moment in the one form that is stored, compared and returned: UTC with milliseconds. */
export function utcTime(text: string): string {
  return IN_THAT_FORM.test(text) ? text : new Date(text).toISOString()
}

/** Nearly all moments arrive in the form they are kept in; validation has made sure that they exist. */
const IN_THAT_FORM = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
