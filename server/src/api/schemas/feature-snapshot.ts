import { Id, ObjectName, Open, Strict, Text, Timestamp } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { DataSource, DataSourceRequest } from './fields.ts'

/** The value of a feature; null means that it was looked for and not found. */
export type FeatureValue = number | string | boolean | null

const Features = Type.Unsafe<Record<string, FeatureValue>>({
  type: 'object',
  minProperties: 1,
  maxProperties: 200,
  propertyNames: { type: 'string', pattern: '^[a-z][a-z0-9_.]{0,63}$' },
  additionalProperties: {
    anyOf: [{ type: 'number' }, { type: 'string', maxLength: 500 }, { type: 'boolean' }, { type: 'null' }],
  },
  description:
    '1 to 200 features by name. A name has up to 64 lowercase letters, digits, dots and underscores, a letter first.',
  examples: [{ 'bureau.open_loans': 2, years_in_business: 7 }],
})

const fields = {
  source: Text(100, 'The source of the values.'),
  as_of: Timestamp('The time that the values describe; at most five minutes in the future, which is recorded as now.'),
  features: Features,
}

export const SubmitFeatureSnapshotRequest = Strict(
  { ...fields, provided_by: Type.Optional(DataSourceRequest) },
  {
    title: 'SubmitFeatureSnapshotRequest',
    description: 'Values of features that you measured or bought, all of one time.',
  },
)

export const FeatureSnapshot = Open(
  {
    id: Id('fsn', 'The id of the snapshot.'),
    object: ObjectName('feature_snapshot'),
    entity_id: Id('ent', 'The entity that the values describe.'),
    ...fields,
    provided_by: Type.Optional(DataSource),
    sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 of the canonical JSON (RFC 8785) of `features`.',
    }),
    created_at: Timestamp('When it was recorded.'),
  },
  { title: 'FeatureSnapshot', description: 'Values of features, as they were recorded.' },
)
