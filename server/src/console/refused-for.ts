import { Problem, type ProblemKind } from '../admin/problem.ts'
import { HINTS } from './hints.ts'
import type { Refused } from './operation-call.ts'

const STATUS_OF: Record<ProblemKind, number> = {
  invalid: 400,
  not_signed_in: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  throttled: 429,
}

/** The refusal that a problem is, with what the person at the page can do; anything else that was thrown is thrown again. */
export function refusedFor(error: unknown): Refused {
  if (!(error instanceof Problem)) throw error
  const { kind, code, message } = error
  const hint = HINTS[code]
  return { refused: { status: STATUS_OF[kind], code, message: hint === undefined ? message : `${message} ${hint}` } }
}
