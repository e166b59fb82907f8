import type { Installation } from '../src/installation/installation.ts'
import { activateDocument } from './activate-document.ts'
import { editedDocument } from './edited-policy.ts'

/** Activates the sandbox policy without the rule that has a person look at the eleventh request in a week. */
export async function allowManyRequests(installation: Installation, organizationId: string): Promise<void> {
  const edited = editedDocument(({ rules }) => ({ rules: rules.filter(({ id }) => id !== 'too_many_requests') }))
  await activateDocument(installation, { ...edited, version: 'many-requests-1' }, { organizationId })
}
