import { readFileSync } from 'node:fs'
import { describeProblem } from '../core/policy/check/policy-problem.ts'
import type { Installation } from '../installation/installation.ts'
import { checkPolicySource, testsFault } from './check-policy-source.ts'
import { activatedEvent, policyRow, policyStep, testEvidence } from './policy-steps.ts'

const FILE = new URL('../../../policies/sandbox-policy-v1.yaml', import.meta.url)
const SHIPPING = {
  by: { type: 'system', id: 'installation' },
  channel: 'service',
  reason: 'Ships with the sandbox, so that a first decision needs nothing else',
} as const
const STEPS = ['proposed', 'approved', 'activated'] as const

/** Activates the shipped policy in an organization's sandbox. In production only operators activate policies. */
export async function installSandboxPolicy(installation: Installation, organizationId: string): Promise<void> {
  const { source, policy, tests } = shippedPolicy()
  const act = { organizationId, ...SHIPPING }
  const row = policyRow(installation, act, { policy, source })
  const steps = STEPS.map((step, index) =>
    policyStep(installation, act, {
      policy: row,
      step,
      number: index + 1,
      evidence: testEvidence(tests),
      ...(step === 'proposed' && { proposed: row }),
    }),
  )
  const switched = await installation.stores.sandbox.policies.switchActive({
    organizationId,
    policy: row,
    replacesId: undefined,
    activatedAt: row.created_at,
    newPolicies: [row],
    steps: steps.map((step) => step.row),
    event: activatedEvent(installation, row, undefined),
    auditEntries: steps.map((step) => step.entry),
  })
  if (!switched) throw new Error(`the sandbox policy of ${organizationId} was not activated: try again`)
}

type ShippedPolicy = { source: string } & Exclude<ReturnType<typeof checkPolicySource>, { problems: unknown }>

let shipped: ShippedPolicy | undefined

/** Read and checked once per process, because tests create thousands of organizations. */
function shippedPolicy(): ShippedPolicy {
  shipped ??= readShippedPolicy()
  return shipped
}

function readShippedPolicy(): ShippedPolicy {
  const source = readFileSync(FILE, 'utf8')
  const checked = checkPolicySource(source)
  const problem = 'problems' in checked ? checked.problems.map(describeProblem).join('\n') : testsFault(checked.tests)
  if ('problems' in checked || problem !== undefined)
    throw new Error(`policies/sandbox-policy-v1.yaml cannot decide: ${problem}`)
  return { source, ...checked }
}
