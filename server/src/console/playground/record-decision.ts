import { setTimeout as sleep } from 'node:timers/promises'
import type { UnderwritingDecision } from '../../core/decide/describe-decision.ts'
import type { Environment } from '../../core/vocabularies.ts'
import { nodeId } from '../../ids/node-id.ts'
import type { Installation } from '../../installation/installation.ts'
import type { EntityRow } from '../../store/environment/entities.ts'
import { domainEventRows } from '../../store/write-path/record.ts'
import { ActivePolicies } from '../../underwriting/active-policies.ts'
import { decideRequest, type EntityRequest } from '../../underwriting/decide-request.ts'
import type { Refusal } from '../define-operation.ts'

/** Who records a decision from the console, and where. */
export interface RecordingAct {
  environment: Environment
  organizationId: string
  operatorId: string
  requestId: string
}

const ATTEMPTS_MAX = 5

/**
 * Decides and records, by the code of `POST /v1/underwrite`: the same rows, audit entry, event and usage, with the operator
 * as the actor. A change that lost against another writer is decided again on what is stored then.
 */
export async function recordDecision(
  installation: Installation,
  { environment, organizationId, operatorId, requestId }: RecordingAct,
  request: EntityRequest,
): Promise<UnderwritingDecision | Refusal> {
  const { newId, nowMs } = installation
  const store = installation.stores[environment]
  const policies = new ActivePolicies({ store, nowMs })
  const timeOf = ({ updated_at, exposed_at }: EntityRow) =>
    [new Date(nowMs()).toISOString(), updated_at, exposed_at ?? ''].sort().at(-1)!
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const decided = await decideRequest(
      { store, policies, environment, requestId, newId, timeOf },
      organizationId,
      request,
    )
    if ('failure' in decided) return refusalOf(decided.failure)
    const { decision, now, counts, domainEvents, change, rowsWith } = decided
    const actor = { type: 'operator', id: operatorId } as const
    const { auditEntries, events } = domainEventRows({ organizationId, actor, now, requestId, newId }, domainEvents)
    const committed = await store.commit({
      ...change,
      organizationId,
      auditEntries,
      rows: { events, ...rowsWith(auditEntries[0]!.id) },
      usage: counts.map(([counter, count]) => ({ day: now.slice(0, 10), node: nodeId, counter, count })),
    })
    if (!committed.lost) return decision
    await sleep(attempt * 10)
  }
  return { problem: 'Other requests about this entity came first. Try again.', status: 409 }
}

function refusalOf(failure: 'entity_not_found' | 'no_active_policy' | 'unknown_product'): Refusal {
  if (failure === 'entity_not_found') return { problem: 'There is no such entity in this environment.', status: 404 }
  if (failure === 'no_active_policy') return { problem: 'No policy is active here.', status: 409 }
  return { problem: 'The active policy refuses products that it does not list.' }
}
