import { activatedEvent, policyRow, policyStep, testEvidence } from '../src/admin/policy-steps.ts'
import type { Environment } from '../src/config.ts'
import { canonicalJson, sha256 } from '../src/core/canonical-json.ts'
import { compileStoredPolicy } from '../src/core/policy/compile/compile-policy.ts'
import type { Installation } from '../src/installation/installation.ts'
import { byService } from './acts.ts'

/**
 * Proposes, approves and activates a policy without the checks for authors, as an earlier release may have done. It
 * replaces the active policy, if there is one.
 */
export async function activateDocument(
  installation: Installation,
  document: Record<string, unknown>,
  { organizationId, environment = 'sandbox' }: { organizationId: string; environment?: Environment },
): Promise<{ checksum: string }> {
  const text = canonicalJson(document)
  const compiled = compileStoredPolicy({ document: text, checksum: sha256(text) })
  if (!('policy' in compiled)) throw new Error(`not a policy: ${JSON.stringify(compiled)}`)
  const act = { ...byService(organizationId, environment), reason: 'for a test' }
  const row = policyRow(installation, act, { policy: compiled.policy, source: text })
  const steps = (['proposed', 'approved', 'activated'] as const).map((step, index) =>
    policyStep(installation, act, {
      policy: row,
      step,
      number: index + 1,
      evidence: testEvidence([]),
      ...(step === 'proposed' && { proposed: row }),
    }),
  )
  const store = installation.stores[environment]
  const replaced = await store.policies.active(organizationId)
  const switched = await store.policies.switchActive({
    organizationId,
    policy: row,
    replacesId: replaced?.id,
    activatedAt: row.created_at,
    newPolicies: [row],
    steps: steps.map((step) => step.row),
    event: activatedEvent(installation, row, replaced),
    auditEntries: steps.map((step) => step.entry),
  })
  if (!switched) throw new Error('another policy was activated meanwhile')
  return { checksum: row.checksum }
}
