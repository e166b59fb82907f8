import { DraftStore } from './draft-store.ts'

/** The drafts of this browser. */
export const drafts = new DraftStore(window.localStorage)

drafts.sweep()
// Only changes of other tabs arrive here.
window.addEventListener('storage', drafts.changed)
