import type { KeyObject } from 'node:crypto'
import type { Environment } from '../config.ts'
import type { Checkpoint } from '../core/audit/checkpoint.ts'
import { describeProblem, type LogFigures } from '../core/audit/log-report.ts'
import { verifyLog } from '../core/audit/verify-log.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'

/** What verifying one organization's log has found. */
export interface LogVerification {
  organization_id: string
  environment: Environment
  intact: boolean
  leaves: number
  heads_verified: number
  root_hash: LogFigures['rootHash']
  problems: string[]
}

/** Proves from the stored rows alone that nothing on an organization's log was edited, removed or reordered, or names what was. */
export async function verifyAuditLog({
  organizationId,
  environment,
  store,
  publicKeys,
  pinnedHead,
}: {
  organizationId: string
  environment: Environment
  store: EnvironmentStore
  publicKeys: readonly KeyObject[]
  /** A head that somebody outside has kept, for example from an `audit.checkpoint` event. */
  pinnedHead?: Checkpoint
}): Promise<LogVerification> {
  const size = await store.logSize(organizationId)
  const report = await verifyLog({
    organizationId,
    environment,
    heads: await store.heads(organizationId, size),
    leaves: store.leavesWithEntries(organizationId, size),
    publicKeys,
    ...(pinnedHead && { pinnedHead }),
  })
  const brokenTrails = await store.brokenTrails(organizationId)
  const neverSealed = await store.entriesNeverSealed(organizationId)
  const problems = [
    ...(report.status === 'tampered' ? report.problems.map(describeProblem) : []),
    ...(report.status === 'tampered' && report.problemsOmitted > 0 ? [`… and ${report.problemsOmitted} more.`] : []),
    ...brokenTrails.map((trail) => `The places on the trail of ${trail} are not 1, 2, 3 … any more.`),
    ...neverSealed.map((id) => `Entry ${id} was taken out of the queue before it was sealed.`),
  ]
  return {
    organization_id: organizationId,
    environment,
    intact: problems.length === 0,
    leaves: report.figures.leaves,
    heads_verified: report.figures.headsVerified,
    root_hash: report.figures.rootHash,
    problems,
  }
}
