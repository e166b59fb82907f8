import { DatabaseUnavailable } from '../database/database.ts'
import type { EnvironmentStore } from '../environment/environment-store.ts'
import type { Change } from './change.ts'

/**
 * Writes a change that has no precondition which it could lose; throws unless it is written. `commit` also resolves for a
 * change that was not written, because the database gave no answer: an act that did not look would count as done.
 */
export async function commitOrThrow(store: Pick<EnvironmentStore, 'commit'>, change: Change): Promise<void> {
  const { lost } = await store.commit(change)
  if (lost) throw new DatabaseUnavailable(`nothing was recorded (${lost}): try again`)
}

/**
 * Writes a change that a concurrent writer may forestall: false if one did. Throws if the database gave no answer, because
 * then no other writer was faster.
 */
export async function commitUnlessForestalled(
  store: Pick<EnvironmentStore, 'commit'>,
  change: Change,
): Promise<boolean> {
  const { lost } = await store.commit(change)
  if (lost === 'no_answer') throw new DatabaseUnavailable(`nothing was recorded (${lost}): try again`)
  return lost === undefined
}
