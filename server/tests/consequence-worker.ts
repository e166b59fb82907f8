/** A consequence worker for the sandbox that tests drain themselves, so that they know when it is done. */
import assert from 'node:assert/strict'
import { ConsequenceWorker } from '../src/consequences/consequence-worker.ts'
import type { Installation } from '../src/installation/installation.ts'
import { ActivePolicies } from '../src/underwriting/active-policies.ts'

/** Creates a worker without starting it; an error in it fails the test. */
export function newConsequenceWorker(installation: Installation): ConsequenceWorker {
  const store = installation.stores.sandbox
  return new ConsequenceWorker({
    ...installation,
    database: installation.storage.environments.sandbox,
    store,
    policies: new ActivePolicies({ store, nowMs: installation.nowMs }),
    turn: async () => {},
    onError: (error) => assert.fail(String(error)),
  })
}
