import type { AuditEntry } from '../core/audit/audit-entry.ts'
import { sha256 } from '../core/canonical-json.ts'
import { requestedIn, termIn } from '../core/facts/read-fact.ts'
import { isObject, objectIn } from '../core/stored-json.ts'
import type { StoredDocuments } from '../store/documents/documents.ts'
import type { DOCUMENTS } from '../store/documents/segment.ts'
import type { RecordedTable } from '../store/environment/audit-records.ts'
import { STEP_ENTRY_TYPES } from '../store/environment/entity-steps.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { ENVIRONMENT_RULES } from '../store/erasure/erasure-rules.ts'
import { documentsSha256, NO_FIGURES } from '../store/erasure/redactions.ts'
import type { NewRow, RowOf } from '../store/schema/tables.ts'
import { dataOf as storedData } from '../store/write-path/entry-data.ts'
import { apiKeySha256, type HashedTable, recordSha256 } from '../store/write-path/record-hash.ts'

/** An entry at its leaf, whose content was found to be the sealed one. */
export interface SealedEntry {
  leafIndex: number
  entry: AuditEntry
}

/** Reads the stored records that entries speak of and describes each that is missing or not the recorded one. */
type Compare = (
  store: EnvironmentStore,
  organizationId: string,
  entries: readonly SealedEntry[],
) => Promise<Compared | string[]>

/** Problems, and how many records are missing, or without their texts, because their entity was erased. */
interface Compared {
  problems: string[]
  erased: number
}

/** How the records behind each type of entry are compared. Types that are not listed speak of no record. */
const COMPARISONS: Record<string, Compare> = {
  'entity.created': compareEntities,
  'entity.erased': compareErasures,
  'entity.merge_proposed': compareHashed('entity_merges', 'merge'),
  'entity.merged': compareHashed('entity_merges', 'merge'),
  'entity.separation_proposed': compareHashed('entity_merges', 'merge'),
  'entity.separated': compareHashed('entity_merges', 'merge'),
  ...Object.fromEntries(STEP_ENTRY_TYPES.map((type) => [type, compareHashed('entity_steps', 'step')])),
  'identity_link.created': compareHashed('identity_links', 'identity link'),
  'consent.granted': compareHashed('consents', 'consent'),
  'consent.revoked': compareHashed('consents', 'consent'),
  'transactions.corrected': compareHashed('transaction_corrections', 'correction of the batch'),
  'feature_snapshot.created': compareHashed('feature_snapshots', 'feature snapshot'),
  'decision.created': compareDecisions,
  'decision.reviewed': compareHashed('reviews', 'review'),
  'case.signature_due': compareHashed('case_signatures', 'signature'),
  'case.noted': compareHashed('case_notes', 'note'),
  'decision.outcome_recorded': compareHashed('outcomes', 'outcome'),
  'decision.outcome_retraction_proposed': compareHashed('outcome_retractions', 'retraction'),
  'decision.outcome_retracted': compareHashed('outcome_retractions', 'retraction'),
  'policy.backtested': compareBacktests,
  'policy.commented': compareHashed('policy_comments', 'comment'),
  'policy.proposed': async (...args) => [...(await comparePolicies(...args)), ...(await compareSteps(...args))],
  'policy.approved': compareSteps,
  'policy.rejected': compareSteps,
  'policy.activated': compareSteps,
  'policy.retired': compareSteps,
  'api_key.created': compareKeys,
  'api_key.rotated': compareKeyTimes((row, { retires_at }) => row.retires_at === retires_at),
  'api_key.revoked': compareKeyTimes((row) => row.revoked_at !== null),
  'api_key.disabled': compareSwitchedKeys,
  'api_key.enabled': compareSwitchedKeys,
}

/** The tables of which every row has an entry that created it, with the types of such entries. */
export const CREATED_BY: Record<RecordedTable, { record: string; types: readonly string[] }> = {
  entities: { record: 'entity', types: ['entity.created'] },
  entity_merges: {
    record: 'merge',
    types: ['entity.merge_proposed', 'entity.merged', 'entity.separation_proposed', 'entity.separated'],
  },
  entity_steps: { record: 'step', types: STEP_ENTRY_TYPES },
  identity_links: { record: 'identity link', types: ['identity_link.created'] },
  consents: { record: 'consent', types: ['consent.granted', 'consent.revoked'] },
  transaction_corrections: { record: 'correction of the batch', types: ['transactions.corrected'] },
  feature_snapshots: { record: 'feature snapshot', types: ['feature_snapshot.created'] },
  decisions: { record: 'decision', types: ['decision.created'] },
  reviews: { record: 'review', types: ['decision.reviewed'] },
  case_signatures: { record: 'signature', types: ['case.signature_due'] },
  case_notes: { record: 'note', types: ['case.noted'] },
  outcomes: { record: 'outcome', types: ['decision.outcome_recorded'] },
  outcome_retractions: {
    record: 'retraction',
    types: ['decision.outcome_retraction_proposed', 'decision.outcome_retracted'],
  },
  policies: { record: 'policy', types: ['policy.proposed'] },
  policy_backtests: { record: 'backtest', types: ['policy.backtested'] },
  policy_comments: { record: 'comment', types: ['policy.commented'] },
  api_keys: { record: 'API key', types: ['api_key.created'] },
}

/** Compares every record that these entries speak of with what is stored now; returns how many, and the differences. */
export async function compareRecords(
  store: EnvironmentStore,
  organizationId: string,
  entries: readonly SealedEntry[],
): Promise<Compared & { compared: number }> {
  const byType = Map.groupBy(entries, ({ entry }) => entry.type)
  const problems: string[] = []
  let compared = 0
  let erased = 0
  for (const [type, ofType] of byType) {
    const compare = COMPARISONS[type]
    if (!compare) continue
    compared += ofType.length
    const found = await compare(store, organizationId, ofType)
    problems.push(...(Array.isArray(found) ? found : found.problems))
    if (!Array.isArray(found)) erased += found.erased
  }
  return { compared, problems, erased }
}

function compareHashed(table: Exclude<HashedTable, 'policies' | 'policy_steps'>, record: string): Compare {
  return async (store, organizationId, entries) => {
    const rows = await store.auditRecords.byId(table, organizationId, subjectsOf(entries))
    const differing = entries.flatMap((sealed): Suspect[] => {
      const row = rows.get(sealed.entry.subject.id)
      const found = row ? recordSha256(organizationId, row) : null
      if (found === dataOf(sealed).record_sha256) return []
      return [{ sealed, found, problem: () => differs(sealed, record, row && false) }]
    })
    return withoutErased({ store, organizationId, isDeleted: isDeletedByErasure(table) }, differing)
  }
}

/** A record that is missing or differs from what its entry says. */
interface Suspect {
  sealed: SealedEntry
  /** The hash of what is stored; null if nothing is. */
  found: string | null
  problem: () => string[]
}

/**
 * The problems of records that no erasure explains. One explains a record that is as an entry of its redaction says, and
 * one that is missing from a table whose rows an erasure deletes (`isDeleted`).
 */
async function withoutErased(
  { store, organizationId, isDeleted }: { store: EnvironmentStore; organizationId: string; isDeleted: boolean },
  suspects: readonly Suspect[],
): Promise<Compared> {
  if (suspects.length === 0) return { problems: [], erased: 0 }
  const ids = suspects.map(({ sealed }) => sealed.entry.subject.id)
  const redactions = await store.auditRecords.entriesAbout(organizationId, ids, ['record.redacted'])
  const isRedacted = ({ sealed, found }: Suspect) =>
    (redactions.get(sealed.entry.subject.id) ?? []).some((entry) => storedData(entry).record_sha256 === found)
  const missing = isDeleted ? suspects.filter(({ found }) => found === null) : []
  const named = new Set(missing.flatMap(({ sealed }) => entitiesIn(sealed)))
  const erasures = await store.erasures.ofEntities(organizationId, [...named])
  // The entity itself goes with the approval; everything else once the entry of the approval is sealed.
  const isErased = ({ sealed, found }: Suspect) =>
    (isDeleted && found === null && entitiesIn(sealed).some((id) => erasures.get(id)?.is_sealed ?? false)) ||
    (isDeleted && found === null && sealed.entry.type === 'entity.created' && erasures.has(sealed.entry.subject.id))
  const unexplained = suspects.filter((suspect) => !isRedacted(suspect) && !isErased(suspect))
  return {
    problems: unexplained.flatMap(({ problem }) => problem()),
    erased: suspects.length - unexplained.length,
  }
}

/** The entities of which the record of an entry may be: an erasure of any of them deletes it. */
function entitiesIn(sealed: SealedEntry): string[] {
  const { entity_id, related_entity_id } = dataOf(sealed)
  return [entity_id, related_entity_id].filter((id) => typeof id === 'string')
}

function isDeletedByErasure(table: string): boolean {
  const rule = ENVIRONMENT_RULES[table]
  return rule !== undefined && ('at' in rule || ('deletes' in rule && rule.deletes !== undefined))
}

/** An erasure counts only with its row, which says which entry approved it. */
async function compareErasures(...[store, organizationId, entries]: Parameters<Compare>): Promise<string[]> {
  const erasures = await store.erasures.ofEntities(organizationId, subjectsOf(entries))
  return entries.flatMap((sealed) => {
    const erasure = erasures.get(sealed.entry.subject.id)
    return differs(sealed, 'erasure of', erasure && erasure.entry_id === sealed.entry.id)
  })
}

/** A backtest may be missing if an entry says that it was deleted by age; no other record may. One that is there is compared. */
async function compareBacktests(...[store, organizationId, entries]: Parameters<Compare>): ReturnType<Compare> {
  const deleted = await store.auditRecords.lastEntries(organizationId, subjectsOf(entries), ['policy.backtest_deleted'])
  const left = await store.auditRecords.byId('policy_backtests', organizationId, [...deleted.keys()])
  const kept = entries.filter(({ entry: { subject } }) => !deleted.has(subject.id) || left.has(subject.id))
  return compareHashed('policy_backtests', 'backtest')(store, organizationId, kept)
}

async function compareEntities(...[store, organizationId, entries]: Parameters<Compare>): Promise<Compared> {
  const existing = await store.auditRecords.existingEntities(organizationId, subjectsOf(entries))
  const missing = entries.filter(({ entry }) => !existing.has(entry.subject.id))
  return withoutErased(
    { store, organizationId, isDeleted: isDeletedByErasure('entities') },
    missing.map((sealed) => ({ sealed, found: null, problem: () => differs(sealed, 'entity', undefined) })),
  )
}

async function comparePolicies(...[store, organizationId, entries]: Parameters<Compare>): Promise<string[]> {
  const rows = await store.auditRecords.byId('policies', organizationId, subjectsOf(entries))
  return entries.flatMap((sealed) => {
    const row = rows.get(sealed.entry.subject.id)
    const { policy_sha256, policy_checksum } = dataOf(sealed)
    const isSame =
      row && recordSha256(organizationId, row) === policy_sha256 && sha256(row.document) === policy_checksum
    return differs(sealed, 'policy', isSame)
  })
}

async function compareSteps(...[store, organizationId, entries]: Parameters<Compare>): Promise<string[]> {
  const steps = await store.auditRecords.stepsOfPolicies(organizationId, [...new Set(subjectsOf(entries))])
  const hashes = new Set(steps.map((step) => recordSha256<'policy_steps'>(organizationId, step)))
  return entries
    .filter((sealed) => !hashes.has(String(dataOf(sealed).record_sha256)))
    .map((sealed) => {
      const { id, type, subject } = sealed.entry
      return `The step “${type.replace('policy.', '')}” of policy ${subject.id} was changed or is missing: entry ${id} at leaf ${sealed.leafIndex} recorded it.`
    })
}

async function compareKeys(...[store, organizationId, entries]: Parameters<Compare>): Promise<string[]> {
  const rows = await store.auditRecords.byId('api_keys', organizationId, subjectsOf(entries))
  return entries.flatMap((sealed) => {
    const row = rows.get(sealed.entry.subject.id)
    return differs(sealed, 'API key', row && apiKeySha256(organizationId, row) === dataOf(sealed).record_sha256)
  })
}

function compareKeyTimes(isRecorded: (row: NewRow<'api_keys'>, data: Record<string, unknown>) => boolean): Compare {
  return async (store, organizationId, entries) => {
    const rows = await store.auditRecords.byId('api_keys', organizationId, subjectsOf(entries))
    return entries.flatMap((sealed) => {
      const row = rows.get(sealed.entry.subject.id)
      // A missing key is reported with the entry that created it.
      return row ? differs(sealed, 'API key', isRecorded(row, dataOf(sealed))) : []
    })
  }
}

/** A key may be disabled and enabled many times: the last of these entries says how it is stored. */
async function compareSwitchedKeys(...[store, organizationId, entries]: Parameters<Compare>): ReturnType<Compare> {
  const ids = [...new Set(subjectsOf(entries))]
  const last = await store.auditRecords.lastEntries(organizationId, ids, ['api_key.disabled', 'api_key.enabled'])
  const compare = compareKeyTimes(
    (row) => (row.disabled_at === null) === (last.get(row.id)!.type === 'api_key.enabled'),
  )
  return compare(
    store,
    organizationId,
    entries.filter(({ entry }) => last.get(entry.subject.id)?.id === entry.id),
  )
}

async function compareDecisions(...[store, organizationId, entries]: Parameters<Compare>): Promise<Compared> {
  const rows = await store.auditRecords.decisions(organizationId, subjectsOf(entries))
  const problems: string[] = []
  const suspects = entries.flatMap((sealed): Suspect[] => {
    const row = rows.get(sealed.entry.subject.id)
    if (!row) {
      problems.push(...differs(sealed, 'decision', undefined))
      return []
    }
    const describe = (changed: readonly string[]) =>
      changed.length === 0 ? [] : differs(sealed, 'decision', false, ` (${changed.join(', ')})`)
    const changed = changedParts(row, sealed)
    if (changed.length === 0) return []
    // Of documents that an erasure left so, the columns are compared with what is left of them.
    const left = changedParts(row, sealed, { isRedacted: true })
    if (left.length === 0) return [{ sealed, found: documentsSha256(row), problem: () => describe(changed) }]
    problems.push(...describe(changed))
    return []
  })
  const { problems: unexplained, erased } = await withoutErased({ store, organizationId, isDeleted: false }, suspects)
  return { problems: [...problems, ...unexplained], erased }
}

/**
 * The parts of a stored decision that are not the recorded ones. A column is compared with a document only if that is the
 * recorded one: a document that was altered or is missing says nothing about a column.
 */
function changedParts(
  row: RowOf<'decisions'> & StoredDocuments,
  { entry }: SealedEntry,
  { isRedacted = false } = {},
): string[] {
  const data = entry.data as Record<string, unknown>
  const read = (name: (typeof DOCUMENTS)[number], recordedSha256: unknown) =>
    isRedacted ? (objectIn(row[name]) ?? null) : recordedDocument(row[name], recordedSha256)
  const body = read('body', data.decision_sha256)
  const facts = read('facts', data.facts_sha256)
  const trace = read('trace', data.trace_sha256)
  const graph = read('graph', data.graph_sha256)
  // Once its documents are gone too, a decision has no figures.
  const isGone = isRedacted && row.body === null
  const parts: [part: string, recorded: unknown, stored: unknown][] = [
    ...(isGone
      ? Object.entries(NO_FIGURES).map(([name, left]): [string, unknown, unknown] => [name, left, row[name as 'score']])
      : []),
    ['body', true, isRedacted || body !== null],
    ['facts', true, isRedacted || facts !== null],
    ['trace', true, isRedacted || trace !== null],
    ['graph', true, isRedacted || graph !== null],
    ['entity_id', data.entity_id, row.entity_id],
    ['verdict', data.verdict, row.verdict],
    ['policy_version', data.policy_version, row.policy_version],
    ['product', data.product, row.product],
  ]
  if (body)
    parts.push(
      ['risk_tier', body.risk_tier, row.risk_tier],
      ['created_at', body.created_at, row.created_at],
      ['recommended_limit', body.recommended_limit ?? null, row.recommended_limit],
      ['reason_codes', codesIn(body.reason_codes), row.reason_codes],
      ['reference', body.reference ?? null, row.reference],
    )
  if (facts) {
    const requested = requestedIn(facts.features)
    parts.push(
      ['requested_amount', requested?.amount ?? null, row.requested_amount],
      ['currency', requested?.currency ?? null, row.currency],
      ['term_months', termIn(facts.features), row.term_months],
    )
  }
  if (trace) {
    const hasScorecard = Array.isArray(trace.scorecard) && trace.scorecard.length > 0
    const score = hasScorecard && isObject(trace.score) ? trace.score : null
    parts.push(['score', score?.total ?? null, row.score], ['score_cutoff', score?.cutoff ?? null, row.score_cutoff])
  }
  return parts.filter(([, recorded, stored]) => recorded !== stored).map(([part]) => part)
}

/** Describes a record that is missing (`isSame` is undefined) or was changed (false). */
function differs(
  { entry, leafIndex }: SealedEntry,
  record: string,
  isSame: boolean | undefined,
  details = '',
): string[] {
  if (isSame) return []
  const what = isSame === undefined ? 'is missing' : `was changed${details}`
  return [`The ${record} ${entry.subject.id} ${what}: entry ${entry.id} at leaf ${leafIndex} recorded it.`]
}

function subjectsOf(entries: readonly SealedEntry[]): string[] {
  return entries.map(({ entry }) => entry.subject.id)
}

function dataOf({ entry }: SealedEntry): Record<string, unknown> {
  return entry.data as Record<string, unknown>
}

/** A stored document, parsed; null if it is not the one with the recorded hash. */
function recordedDocument(text: string | null, recordedSha256: unknown): Record<string, unknown> | null {
  return text !== null && sha256(text) === recordedSha256 ? (objectIn(text) ?? {}) : null
}

/** The codes of stored reasons, as their column has them. */
function codesIn(reasons: unknown): string {
  return (Array.isArray(reasons) ? reasons.filter(isObject) : []).map(({ code }) => code).join(' ')
}
