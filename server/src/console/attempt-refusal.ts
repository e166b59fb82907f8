import type { SignInRefusal } from '../admin/sign-in.ts'
import type { Refusal } from './define-operation.ts'

/** The answer to an attempt to prove who one is: 429 while attempts are refused unchecked, 401 if it was wrong. */
export function attemptRefusal({ problem, until }: SignInRefusal): Refusal {
  return until === undefined ? { problem, status: 401, code: 'not_right' } : { problem, status: 429 }
}
