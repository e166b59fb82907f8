/** Alterations of the records that entries of the audit log speak of. */
import type { Database } from '../../src/store/database/database.ts'
import type { Documents } from '../../src/store/documents/segment.ts'
import { columnsOf } from '../../src/store/schema/tables.ts'
import { alterDocument, deleteDocuments } from '../../tests/alter-documents.ts'
import { tamper } from '../../tests/tamper.ts'
import { type Alteration, leafOf, type Scene } from './alteration.ts'

/** The sentence about a record that was changed or is missing, with its entry and leaf. */
const recordNamed =
  (record: string, id: (scene: Scene) => string, what: string) =>
  async (scene: Scene, database: Database): Promise<string> => {
    const { entry, leaf } = await leafOf(database, scene, id(scene))
    return `The ${record} ${id(scene)} ${what}: entry ${entry} at leaf ${leaf} recorded it.`
  }

const edited = (
  what: string,
  { set, table, record, id }: { set: string; table: string; record: string; id: (scene: Scene) => string },
): Alteration => ({
  what,
  sql: (scene) => `UPDATE ${table} SET ${set} WHERE org_id = $1 AND id = '${id(scene)}'`,
  named: recordNamed(record, id, 'was changed'),
})

const deleted = (table: string, record: string, id: (scene: Scene) => string): Alteration => ({
  what: `a deleted ${record}`,
  sql: (scene) => `DELETE FROM ${table} WHERE org_id = $1 AND id = '${id(scene)}'`,
  named: recordNamed(record, id, 'is missing'),
})

const inserted = (
  table: string,
  record: string,
  { columns, id }: { columns: string; id: (scene: Scene) => string },
): Alteration => ({
  what: `an inserted ${record}`,
  sql: (scene) =>
    `INSERT INTO ${table} (org_id, id, ${columns}) SELECT org_id, 'zz_forged', ${columns} FROM ${table} WHERE org_id = $1 AND id = '${id(scene)}'`,
  named: () => `The ${record} zz_forged is not on the log: no entry says how it came to be.`,
})

const REVIEW = { table: 'reviews', record: 'review', id: (scene: Scene) => scene.review }
const OUTCOME = { table: 'outcomes', record: 'outcome', id: (scene: Scene) => scene.outcome }
const PROPOSAL = { table: 'outcome_retractions', record: 'retraction', id: (scene: Scene) => scene.proposal }
const RETRACTION = { table: 'outcome_retractions', record: 'retraction', id: (scene: Scene) => scene.retraction }
const CONSENT = { table: 'consents', record: 'consent', id: (scene: Scene) => scene.consent }
const LINK = { table: 'identity_links', record: 'identity link', id: (scene: Scene) => scene.link }
const SNAPSHOT = { table: 'feature_snapshots', record: 'feature snapshot', id: (scene: Scene) => scene.snapshot }
const MERGE = { table: 'entity_merges', record: 'merge', id: (scene: Scene) => scene.merge }
const HOLD = { table: 'entity_steps', record: 'step', id: (scene: Scene) => scene.hold }
const POLICY = { table: 'policies', record: 'policy', id: (scene: Scene) => scene.policy }
const KEY = { table: 'api_keys', record: 'API key', id: (scene: Scene) => scene.otherKey }
const decisionChanged = (parts: string) => recordNamed('decision', ({ decision }) => decision, `was changed (${parts})`)
const step = (name: string) => async (scene: Scene) =>
  `The step “${name}” of policy ${scene.policy} was changed or is missing`

const columnEdited = (column: string, value: string, parts = column): Alteration => ({
  what: `only the column ${column} of a decision edited to ${value}`,
  sql: ({ decision }) => `UPDATE decisions SET ${column} = ${value} WHERE org_id = $1 AND id = '${decision}'`,
  named: decisionChanged(parts),
})

const documentEdited = (name: keyof Documents, edit: (stored: string) => string): Alteration => ({
  what: `an edited document of a decision: ${name}`,
  alter: ({ decision }, database) => alterDocument(database, decision, name, edit),
  named: decisionChanged(name),
})

const segmentEdited = (what: string, set: string): Alteration => ({
  what,
  sql: ({ decision }) => `UPDATE document_segments SET ${set} WHERE org_id = $1 AND '${decision}' = ANY(decision_ids)`,
  named: decisionChanged('body, facts, trace, graph'),
})

/** Each is detected, and the report names the record, its entry and its leaf. */
export const RECORD_ALTERATIONS: readonly Alteration[] = [
  {
    what: 'a decision edited to “approve, 999999”',
    async alter({ organization, decision }, database) {
      const columns = `UPDATE decisions SET verdict = 'approve', recommended_limit = 999999 WHERE org_id = $1 AND id = $2`
      await tamper(database, columns, [organization.id, decision])
      await alterDocument(database, decision, 'body', (body) =>
        JSON.stringify({ ...JSON.parse(body), verdict: 'approve', recommended_limit: 999_999 }),
      )
    },
    named: decisionChanged('body, verdict'),
  },
  columnEdited('verdict', "'approve'"),
  columnEdited('requested_amount', '1'),
  columnEdited('requested_amount', 'NULL'),
  columnEdited('currency', "'USD'"),
  columnEdited('recommended_limit', '999999'),
  columnEdited('reason_codes', "'x'"),
  columnEdited('reference', "'x'"),
  columnEdited('score', '999'),
  columnEdited('score_cutoff', '1'),
  columnEdited('term_months', '12'),
  columnEdited('flush', 'flush + 1000', 'body, facts, trace, graph'),
  {
    what: 'the product, tier and time of a decision edited',
    sql: ({ decision }) =>
      `UPDATE decisions SET product = 'x', risk_tier = 'A', created_at = '2020-01-01' WHERE org_id = $1 AND id = '${decision}'`,
    named: decisionChanged('product, risk_tier, created_at'),
  },
  documentEdited('body', (body) => body.replace('"manual_review"', '"approve"')),
  documentEdited('facts', (facts) => `${facts} `),
  documentEdited('trace', (trace) => `${trace} `),
  documentEdited('graph', () => '{"a":1}'),
  {
    what: 'the documents of a decision deleted from their segment',
    alter: ({ decision }, database) => deleteDocuments(database, decision),
    named: decisionChanged('body, facts, trace, graph'),
  },
  {
    what: 'a deleted segment',
    sql: ({ decision }) => `DELETE FROM document_segments WHERE org_id = $1 AND '${decision}' = ANY(decision_ids)`,
    named: decisionChanged('body, facts, trace, graph'),
  },
  segmentEdited('a segment of garbage', `content = '\\x0badc0de'`),
  segmentEdited('an empty segment', `content = ''`),
  segmentEdited('a segment cut in half', 'content = substr(content, 1, length(content) / 2)'),
  segmentEdited('a segment that names other decisions', `decision_ids = '{dec_other}'`),
  deleted('decisions', 'decision', ({ decision }) => decision),
  inserted('decisions', 'decision', {
    columns: `${columnsOf('decisions').filter((column) => column !== 'org_id' && column !== 'id')}, flush`,
    id: ({ decision }) => decision,
  }),
  edited('a review edited to “approve”', {
    ...REVIEW,
    set: `verdict = 'approve', body = replace(body, '"decline"', '"approve"')`,
  }),
  edited('the column of a review edited', { ...REVIEW, set: `reviewer_id = 'u-2'` }),
  deleted('reviews', 'review', REVIEW.id),
  inserted('reviews', 'review', {
    columns: 'decision_id, entity_id, verdict, overrides, reviewer_id, body, created_at',
    id: REVIEW.id,
  }),
  edited('an outcome edited to “repaid”', {
    ...OUTCOME,
    set: `type = 'repaid', body = replace(body, '"default"', '"repaid"')`,
  }),
  deleted('outcomes', 'outcome', OUTCOME.id),
  inserted('outcomes', 'outcome', {
    columns: 'decision_id, entity_id, type, occurred_at, body, created_at',
    id: OUTCOME.id,
  }),
  edited('a retraction of an outcome with another reason', { ...RETRACTION, set: `reason = 'because'` }),
  edited('a retraction moved to another outcome', { ...RETRACTION, set: `outcome_id = 'out_other'` }),
  edited('a retraction proposed by another operator', { ...PROPOSAL, set: `actor_id = 'opr_x'` }),
  edited('a proposal to retract edited to a confirmation', {
    ...PROPOSAL,
    set: `step = 'approved', outcome_id = 'out_other'`,
  }),
  { ...deleted('outcome_retractions', 'retraction', PROPOSAL.id), what: 'a deleted proposal to retract' },
  deleted('outcome_retractions', 'retraction', RETRACTION.id),
  inserted('outcome_retractions', 'retraction', {
    columns: 'outcome_id, entity_id, step, reason, actor_type, actor_id, taken_at',
    id: PROPOSAL.id,
  }),
  {
    what: 'an open offer added',
    sql: () => `UPDATE open_offers SET offers = '[["dec_x",1,"EUR",4070908800000]]' WHERE org_id = $1`,
    named: ({ entity }) =>
      `The open offers of the entity ${entity} were changed: its row lists dec_x of 1 EUR until 2099-01-01T00:00:00.000Z, which is not on record.`,
  },
  edited('a consent edited to another purpose', { ...CONSENT, set: `purpose = 'marketing'` }),
  edited('the expiry of a consent removed', { ...CONSENT, set: `expires_at = '2099-01-01'` }),
  deleted('consents', 'consent', CONSENT.id),
  inserted('consents', 'consent', {
    columns:
      'entity_id, purpose, status, data_categories, granted_at, expires_at, revoked_at, evidence_method, evidence_reference, evidence_document_sha256, created_at',
    id: CONSENT.id,
  }),
  edited('the verification of an identity link edited', { ...LINK, set: `verification_status = 'failed'` }),
  edited('the hash of an identifier edited', { ...LINK, set: `identifier_hash = repeat('0', 64)` }),
  deleted('identity_links', 'identity link', LINK.id),
  edited('the features of a snapshot edited', { ...SNAPSHOT, set: `features = '{"score":900}'` }),
  edited('the source of a snapshot edited', { ...SNAPSHOT, set: `source = 'x'` }),
  deleted('feature_snapshots', 'feature snapshot', SNAPSHOT.id),
  {
    what: 'what a corrected transaction was before, edited',
    sql: () => `UPDATE transaction_corrections SET replaced = replace(replaced, '12.5', '99') WHERE org_id = $1`,
    named: ({ correction }) => `The correction of the batch ${correction} was changed: entry`,
  },
  {
    what: 'what a corrected transaction was before, deleted',
    sql: () => 'DELETE FROM transaction_corrections WHERE org_id = $1',
    named: ({ correction }) => `The correction of the batch ${correction} is missing: entry`,
  },
  {
    what: 'an inserted correction',
    sql: () =>
      `INSERT INTO transaction_corrections (org_id, id, entity_id, replaced, created_at) SELECT org_id, 'zz_forged', entity_id, replaced, created_at FROM transaction_corrections WHERE org_id = $1`,
    named: () => 'The correction of the batch zz_forged is not on the log: no entry says how it came to be.',
  },
  edited('a merge edited to take in another entity', { ...MERGE, set: `members = members || ' ent_other'` }),
  edited('a merge edited to tell entities apart', { ...MERGE, set: `effect = 'separated'` }),
  edited('a merge edited to a proposal', { ...MERGE, set: `step = 'proposed'` }),
  edited('a merge approved by another operator', { ...MERGE, set: `actor_id = 'opr_x'` }),
  deleted('entity_merges', 'merge', MERGE.id),
  {
    what: 'an inserted merge',
    sql: ({ merge }) =>
      `INSERT INTO entity_merges (org_id, id, entity_id, effect, step, subject_id, members, version, reason, actor_type, actor_id, taken_at) SELECT org_id, 'zz_forged', entity_id, effect, step, subject_id, members, version + 1, reason, actor_type, actor_id, taken_at FROM entity_merges WHERE org_id = $1 AND id = '${merge}'`,
    named: () => 'The merge zz_forged is not on the log: no entry says how it came to be.',
  },
  edited('a legal hold edited to a lifted one', { ...HOLD, set: `effect = 'lifted'` }),
  edited('a legal hold for another reason', { ...HOLD, set: `reason = 'r'` }),
  edited('a legal hold set by another operator', { ...HOLD, set: `actor_id = 'opr_x'` }),
  edited('a legal hold moved to another entity', { ...HOLD, set: `entity_id = 'ent_other'` }),
  deleted('entity_steps', 'step', HOLD.id),
  {
    what: 'an inserted step that lifts a legal hold',
    sql: ({ hold }) =>
      `INSERT INTO entity_steps (org_id, id, entity_id, effect, step, reason, actor_type, actor_id, taken_at) SELECT org_id, 'zz_forged', entity_id, 'lifted', step, reason, actor_type, actor_id, taken_at FROM entity_steps WHERE org_id = $1 AND id = '${hold}'`,
    named: () => 'The step zz_forged is not on the log: no entry says how it came to be.',
  },
  edited('a policy edited', { ...POLICY, set: `document = replace(document, '"base":', '"base":9')` }),
  edited('the source of a policy edited', { ...POLICY, set: `source = '# nothing'` }),
  edited('the author of a policy edited', { ...POLICY, set: `author_id = 'opr_x'` }),
  deleted('policies', 'policy', POLICY.id),
  {
    what: 'an approval with another reason',
    sql: () => `UPDATE policy_steps SET reason = 'because' WHERE org_id = $1 AND step = 'approved'`,
    named: step('approved'),
  },
  {
    what: 'an approval by another operator',
    sql: () => `UPDATE policy_steps SET actor_id = 'opr_x' WHERE org_id = $1 AND step = 'approved'`,
    named: step('approved'),
  },
  {
    what: 'a deleted approval',
    sql: () => `DELETE FROM policy_steps WHERE org_id = $1 AND step = 'approved'`,
    named: step('approved'),
  },
  {
    what: 'an inserted step',
    sql: () =>
      `INSERT INTO policy_steps SELECT org_id, policy_id, 9, step, checksum, evidence, reason, actor_type, actor_id, taken_at FROM policy_steps WHERE org_id = $1 AND number = 1`,
    named: ({ policy }) => `The policy ${policy} has more steps than the log recorded.`,
  },
  {
    what: 'the active policy replaced by another one',
    sql: () => `UPDATE active_policies SET policy_id = 'pol_other' WHERE org_id = $1`,
    named: ({ policy }) => new RegExp(`The active policy is pol_other \\w+, but .* is that of ${policy}`),
  },
  {
    what: 'the active policy removed',
    sql: () => 'DELETE FROM active_policies WHERE org_id = $1',
    named: ({ policy }) => new RegExp(`The active policy is none, but .* is that of ${policy}`),
  },
  edited('the scopes of an API key widened', { ...KEY, set: `scopes = 'decisions:write'` }),
  edited('the hash of an API key replaced', { ...KEY, set: `key_hash = md5(random()::text)` }),
  {
    what: 'a revoked API key revived',
    sql: ({ revokedKey }) => `UPDATE api_keys SET revoked_at = NULL WHERE org_id = $1 AND id = '${revokedKey}'`,
    named: ({ revokedKey }) => `The API key ${revokedKey} was changed`,
  },
  {
    what: 'an inserted API key',
    sql: ({ otherKey }) =>
      `INSERT INTO api_keys (org_id, id, name, key_hash, last_four, scopes, created_at, entry_id, mac) SELECT org_id, 'zz_forged', name, md5(random()::text), last_four, scopes, created_at, entry_id, mac FROM api_keys WHERE org_id = $1 AND id = '${otherKey}'`,
    named: () => 'The API key zz_forged is not on the log',
  },
  {
    what: 'a deleted entity',
    sql: ({ entity }) => `DELETE FROM entities WHERE org_id = $1 AND id = '${entity}'`,
    named: recordNamed('entity', ({ entity }) => entity, 'is missing'),
  },
]
