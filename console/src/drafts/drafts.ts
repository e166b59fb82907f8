import { newIdempotencyKey } from '../api/new-idempotency-key.ts'
import { DraftStore } from './draft-store.ts'

/** The drafts of this browser. */
export const drafts = new DraftStore(window.localStorage, newIdempotencyKey())

drafts.sweep()
// Only changes of other tabs arrive here.
window.addEventListener('storage', drafts.changed)
