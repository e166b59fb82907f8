import { hash } from 'node:crypto'
import { canonicalJson } from '../../core/canonical-json.ts'
import { applyFeatureSnapshot, countFeatures, type EntityState, FEATURES_MAX } from '../../core/facts/entity-state.ts'
import type { CompiledPolicy } from '../../core/policy/compile/compiled-policy.ts'
import type { Violation } from '../../http/violation.ts'
import { recordSha256 } from '../../store/write-path/record-hash.ts'
import { fail, failValidation } from '../api-error.ts'
import { dataSourceRow, tooManySources } from '../data-source.ts'
import { defineEndpoint, type RequestContext } from '../define-endpoint.ts'
import { nextEntity } from '../next-entity.ts'
import { record } from '../record.ts'
import { refuseFuture, reportedTime } from '../reported-time.ts'
import { FeatureSnapshot, type FeatureValue, SubmitFeatureSnapshotRequest } from '../schemas/feature-snapshot.ts'
import { EntityPath } from '../schemas/fields.ts'
import { timeOfChange } from '../time-of-change.ts'

/** Records values of features of an entity; for each feature, the latest snapshot counts. */
export const submitFeatureSnapshot = defineEndpoint({
  operationId: 'submitFeatureSnapshot',
  summary: 'Submit feature snapshots',
  description:
    'For each feature, the value with the latest `as_of` counts. An `as_of` more than five minutes in the future is refused. An entity has at most 512 features; more are refused. A value of another type than the active policy reads is refused too.',
  tag: 'Entities',
  method: 'POST',
  path: '/v1/entities/{entity_id}/feature-snapshots',
  scope: 'feature_snapshots:write',
  serializedBy: ({ params }) => [params.entity_id],
  params: EntityPath,
  body: SubmitFeatureSnapshotRequest,
  succeeds: { 201: FeatureSnapshot },
  fails: ['entity_not_found', 'validation_failed'],

  async handle(request) {
    const { params, body, caller, store } = request
    const entity = await store.entities.find({ organizationId: caller.organizationId, id: params.entity_id })
    if (!entity) return fail('entity_not_found')
    const now = timeOfChange(entity, request.now)
    const context = { ...request, now }

    const policy = await activePolicy(request)
    const violations = [...refuseFuture('/as_of', body.as_of, now), ...checkTypes(body.features, policy)]
    if (violations.length > 0) return failValidation(violations)
    const asOf = reportedTime(body.as_of, now)

    const count = countFeatures((JSON.parse(entity.state) as EntityState).snapshot, body.features)
    if (count > FEATURES_MAX) return failValidation([tooManyFeatures(count)])

    const { source, provided_by } = body
    const features = canonicalJson(body.features)
    const sha256 = hash('sha256', features)
    const id = context.newId('fsn')
    const dataSource = dataSourceRow(provided_by, { entity_id: entity.id, provides: 'feature_snapshots', now })
    const dataSources = dataSource ? [dataSource] : []
    const named = { sources: dataSources, param: '/provided_by' }
    const tooMany = await tooManySources(store, { ...caller, entityId: entity.id }, named)
    if (tooMany.length > 0) return failValidation(tooMany)
    const columns = { id, entity_id: entity.id, source, as_of: asOf, features, sha256, created_at: now }
    const row = { ...columns, provided_by: dataSource?.id ?? null }
    const record_sha256 = recordSha256<'feature_snapshots'>(caller.organizationId, row)
    const change = record(context, {
      changedEntities: [
        nextEntity(entity, now, (state) => applyFeatureSnapshot(state, { source, asOf, features: body.features })),
      ],
      rows: { feature_snapshots: [row] },
      dataSources,
      domainEvents: [
        {
          type: 'feature_snapshot.created',
          subject: { type: 'feature_snapshot', id },
          trailId: entity.id,
          data: { entity_id: entity.id, feature_snapshot_id: id, record_sha256 },
        },
      ],
    })
    return {
      status: 201,
      body: {
        id,
        object: 'feature_snapshot',
        entity_id: entity.id,
        source,
        as_of: asOf,
        features: body.features,
        ...(provided_by && { provided_by }),
        sha256,
        created_at: now,
      },
      change,
    }
  },
})

/** The active policy, if there is one that can be read; data is recorded without one too. */
function activePolicy({ caller, policies }: RequestContext): Promise<CompiledPolicy | undefined> {
  return policies.of(caller.organizationId).catch(() => undefined)
}

/** Refuses values of another type than the active policy reads: to a decision they would be missing. */
function checkTypes(features: Record<string, FeatureValue>, policy: CompiledPolicy | undefined): Violation[] {
  return (policy?.inputs ?? []).flatMap(({ feature, type }) => {
    const name = feature.startsWith('snapshot.') ? feature.slice('snapshot.'.length) : undefined
    const value = name === undefined || !Object.hasOwn(features, name) ? null : features[name]!
    if (name === undefined || value === null || typeof value === type) return []
    const message = `${name} must be a ${type}, because the active policy ${policy!.document.version} reads it as one. Send null if it is not known.`
    return [{ param: `/features/${name}`, message }]
  })
}

function tooManyFeatures(count: number): Violation {
  const message = `With the features stored before, the entity would have ${count}; it can have ${FEATURES_MAX}. Send fewer new names: a name that the entity has already is always accepted.`
  return { param: '/features', message }
}
