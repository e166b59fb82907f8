import { DatabaseError } from '../database/database.ts'

/** Rolls an act back that found out halfway that it may not proceed. */
export class Undone extends Error {
  override name = 'Undone'
}

/** The result of an act; false if it was undone, or lost to a concurrent one that took a unique name first. */
export async function unlessUndone<T>(act: Promise<T>): Promise<T | false> {
  try {
    return await act
  } catch (error) {
    if (error instanceof Undone || (error instanceof DatabaseError && error.isUniqueViolation)) return false
    throw error
  }
}
