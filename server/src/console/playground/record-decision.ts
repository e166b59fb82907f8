import { setTimeout as sleep } from 'node:timers/promises'
import { actorOf, type EnvironmentAct, permitted } from '../../admin/act.ts'
import { conflict, invalid, notFound, type Problem, tooManyOffers } from '../../admin/problem.ts'
import type { UnderwritingDecision } from '../../core/decide/describe-decision.ts'
import { nodeId } from '../../ids/node-id.ts'
import { hashReference } from '../../security/hash-reference.ts'
import { auditEntryRow, domainEventRows } from '../../store/write-path/record.ts'
import { ActivePolicies } from '../../underwriting/active-policies.ts'
import { decideRequest, type EntityRequest, type NotDecided } from '../../underwriting/decide-request.ts'

const ATTEMPTS_MAX = 5

/**
 * Decides and records, by the code of `POST /v1/underwrite`: the same rows, audit entry, event and usage, with the operator
 * as the actor. A change that lost against another writer is decided again on what is stored then.
 */
export const recordDecision = permitted(
  'record decisions',
  async (
    installation,
    act: EnvironmentAct,
    { request, requestId }: { request: EntityRequest; requestId: string },
  ): Promise<UnderwritingDecision> => {
    const { newId, nowMs, masterKey } = installation
    const { environment, organizationId } = act
    const actor = actorOf(act)
    const store = installation.stores[environment]
    const policies = new ActivePolicies({ store, nowMs })
    const tools = {
      store,
      policies,
      environment,
      requestId,
      newId,
      readClock: () => new Date(nowMs()).toISOString(),
      hashReference: (named: { organizationId: string; reference: string }) =>
        hashReference(masterKey, { environment, ...named }),
    }
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const decided = await decideRequest(tools, organizationId, request)
      if ('failure' in decided) throw problemOf(decided)
      const { decision, now, counts, domainEvents, replacedOffers, change } = decided
      const context = { organizationId, actor, now, requestId, newId }
      const auditEntries = [
        ...domainEventRows(context, domainEvents),
        ...replacedOffers.map((entry) => auditEntryRow(context, entry)),
      ]
      const committed = await store.commit({
        ...change,
        organizationId,
        auditEntries,
        usage: counts.map(([counter, count]) => ({ day: now.slice(0, 10), node: nodeId, counter, count })),
      })
      if (!committed.lost) return decision
      await sleep(attempt * 10)
    }
    throw conflict('entity_busy', 'Other requests about this entity came first.')
  },
)

function problemOf(undecided: NotDecided): Problem {
  const { failure } = undecided
  if ('message' in undecided) return invalid(failure, undecided.message)
  if (failure === 'too_many_open_offers') return tooManyOffers()
  return failure === 'entity_not_found'
    ? notFound(failure, 'There is no such entity in this environment.')
    : conflict(failure, 'No policy is active here.')
}
