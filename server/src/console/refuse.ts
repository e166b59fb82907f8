import type { Refusal } from './define-operation.ts'

/** A problem of an `admin/` function as a refusal: the request was right, and what is stored stands against it. */
export function refuse({ problem }: { problem: string }): Refusal {
  return { problem, status: 409 }
}
