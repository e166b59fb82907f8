/** Why the server did not carry out an operation, or why it could not be asked. */
export class ApiError extends Error {
  /** A word for the page, such as `code_needed`; `unreachable` if no answer came. */
  readonly code: string
  /** The HTTP status; 0 if no answer came. */
  readonly status: number
  /** The id under which the server's log has this request. */
  readonly requestId: string | undefined

  constructor(message: string, answer: { code: string; status: number; requestId?: string }) {
    super(message)
    this.name = 'ApiError'
    this.code = answer.code
    this.status = answer.status
    this.requestId = answer.requestId
  }
}
