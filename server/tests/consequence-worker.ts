/** A worker of the sandbox that tests run by hand, so that they know what it has done. */
import assert from 'node:assert/strict'
import { ConsequenceWorker } from '../src/consequences/consequence-worker.ts'
import type { Installation } from '../src/service/installation.ts'
import { ActivePolicies } from '../src/underwriting/active-policies.ts'

/** Makes one that has not been started; whatever fails in it fails the test. */
export function newConsequenceWorker(installation: Installation): ConsequenceWorker {
  const store = installation.stores.sandbox
  return new ConsequenceWorker({
    ...installation,
    database: installation.storage.environments.sandbox,
    store,
    policies: new ActivePolicies({ store, nowMs: installation.nowMs }),
    onError: (error) => assert.fail(String(error)),
  })
}
