import { hash } from 'node:crypto'
import { canonicalJson } from '../../core/canonical-json.ts'
import { applyFeatureSnapshot, countFeatures, type EntityState, FEATURES_MAX } from '../../core/facts/entity-state.ts'
import { recordSha256 } from '../../store/write-path/record-hash.ts'
import { fail, failValidation, type Violation } from '../api-error.ts'
import { defineEndpoint } from '../define-endpoint.ts'
import { nextEntity } from '../next-entity.ts'
import { record } from '../record.ts'
import { FeatureSnapshot, SubmitFeatureSnapshotRequest } from '../schemas/feature-snapshot.ts'
import { EntityPath } from '../schemas/fields.ts'
import { timeOfChange } from '../time-of-change.ts'
import { utcTime } from '../utc-time.ts'

/** Records values of features of an entity; for each feature, the latest snapshot counts. */
export const submitFeatureSnapshot = defineEndpoint({
  operationId: 'submitFeatureSnapshot',
  summary: 'Submit feature snapshots',
  description:
    'For each feature, the value with the latest `as_of` counts. An `as_of` in the future is refused. An entity has at most 512 features; more are refused.',
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
    const entity = await store.entity({ organizationId: caller.organizationId, id: params.entity_id })
    if (!entity) return fail('entity_not_found')
    const now = timeOfChange(entity, request.now)
    const context = { ...request, now }

    const asOf = utcTime(body.as_of)
    if (asOf > now) return failValidation([{ param: '/as_of', message: 'as_of is in the future.' }])

    const count = countFeatures((JSON.parse(entity.state) as EntityState).snapshot, body.features)
    if (count > FEATURES_MAX) return failValidation([tooManyFeatures(count)])

    const { source } = body
    const features = canonicalJson(body.features)
    const sha256 = hash('sha256', features)
    const id = context.newId('fsn')
    const row = { id, entity_id: entity.id, source, as_of: asOf, features, sha256, created_at: now }
    const record_sha256 = recordSha256<'feature_snapshots'>(caller.organizationId, row)
    const change = record(context, {
      changedEntities: [
        nextEntity(entity, now, (state) => applyFeatureSnapshot(state, { source, asOf, features: body.features })),
      ],
      rows: { feature_snapshots: [row] },
      domainEvents: [
        {
          type: 'feature_snapshot.created',
          subject: { type: 'feature_snapshot', id },
          trailId: entity.id,
          data: { entity_id: entity.id, feature_snapshot_id: id, sha256, record_sha256 },
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
        sha256,
        created_at: now,
      },
      change,
    }
  },
})

function tooManyFeatures(count: number): Violation {
  const message = `With the features stored before, the entity would have ${count}; it can have ${FEATURES_MAX}. Send fewer new names: a name that the entity has already is always accepted.`
  return { param: '/features', message }
}
