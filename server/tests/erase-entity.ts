import assert from 'node:assert/strict'
import { holdEntity } from '../src/admin/hold-entity.ts'
import { addOperator } from '../src/admin/manage-operators.ts'
import { mergeEntities, separateEntity } from '../src/admin/merge-entities.ts'
import type { Installation } from '../src/installation/installation.ts'
import { eraseApproved, eraseExpiredDecisions } from '../src/service/erase-entities.ts'
import type { Database } from '../src/store/database/database.ts'
import { unpackSegment } from '../src/store/documents/segment.ts'
import { commitOrThrow } from '../src/store/write-path/commit-or-throw.ts'
import { auditEntryRow, domainEventRows } from '../src/store/write-path/record.ts'
import { recordSha256 } from '../src/store/write-path/record-hash.ts'
import { byOperator, byService } from './acts.ts'
import type { startAuditLogScene } from './audit-log-scene.ts'
import type { TestOrganization } from './test-service.ts'

/** Approves the erasure of an entity of the sandbox, as two operators do; returns the id of its entry. */
export async function approveErasure(
  { stores, newId, nowMs }: Installation,
  organizationId: string,
  entityId: string,
): Promise<string> {
  const entity = await stores.sandbox.entities.find({ organizationId, id: entityId })
  const now = new Date(nowMs()).toISOString()
  const entry = auditEntryRow(
    { organizationId, actor: { type: 'system', id: 'test' }, now, requestId: null, newId },
    {
      type: 'entity.erased',
      trailId: entityId,
      subject: { type: 'entity', id: entityId },
      data: { entity_id: entityId, reason: 'Asked to be forgotten.', proposed_by: 'opr_one' },
    },
  )
  const { lost } = await stores.sandbox.commit({
    organizationId,
    newErasures: [{ entity_id: entityId, version: entity!.version, entry_id: entry.id, approved_at: now }],
    auditEntries: [entry],
  })
  if (lost) throw new Error(`the erasure lost: ${lost}`)
  return entry.id
}

type Scene = Awaited<ReturnType<typeof startAuditLogScene>>

/** A round of upkeep, so many minutes from now. */
export function eraseAfter({ installation, store, database }: Scene, minutes: number): Promise<boolean> {
  const { newId } = installation
  return eraseApproved({ store, database, newId })(installation.nowMs() + minutes * 60_000)
}

/** The daily round that ends what is left of decisions about erased entities, so many days from now. */
export function eraseDecisionsAfter({ installation, store, database }: Scene, days: number): Promise<boolean> {
  const { newId, config } = installation
  const parts = { store, database, newId }
  const keepMs = config.keepDays.erasedDecisions * DAY_MS
  return eraseExpiredDecisions(parts, keepMs)(installation.nowMs() + days * DAY_MS)
}

const DAY_MS = 86_400_000

/** Erases an entity to the end: approval, seal, and two rounds of upkeep. Returns the id of the approving entry. */
export async function eraseEntirely(scene: Scene, { id }: TestOrganization, entityId: string): Promise<string> {
  const entryId = await approveErasure(scene.installation, id, entityId)
  await sealEverything(scene, id)
  await eraseAfter(scene, 0)
  await eraseAfter(scene, 11)
  await sealEverything(scene, id)
  const erasures = await scene.store.erasures.ofEntities(id, [entityId])
  assert.ok(erasures.get(entityId)?.done_at, 'the erasure is done')
  return entryId
}

/** Gives every entry of a log its leaf. The sealer of the running service may be sealing some of them meanwhile. */
export async function sealEverything({ sealer, store }: Scene, organizationId: string): Promise<void> {
  do await sealer.sealAll()
  while ((await store.sealing.organizations()).includes(organizationId))
}

/** Texts about one person in everything that a caller can send, each found nowhere else. */
export const PERSONAL_TEXTS = {
  external_id: 'kunde-zq-88172',
  display_name: 'Wilhelmina Quastenflosser',
  metadata: 'Lehmgrube 7, Quastingen',
  issuer: 'Republik Quastania',
  masked: '4711-zq',
  provider: 'Verifikator Quast',
  verification_reference: 'vr-zq-5541',
  evidence: 'evid-zq-9920',
  transaction: 'txn-zq-31337',
  description: 'Miete Lehmgrube Quast',
  counterparty: 'Hausverwaltung Quastmann',
  category: 'quastcategory',
  source_name: 'Quastbank eG',
  source_address: 'Quastenweg 12',
  source_phone: '+49 89 5550199',
  snapshot_source: 'crm-zq-system',
  employer: 'Zahnarztpraxis Quastel',
  reference: 'application-zq-40312',
  counterparty_of_another: 'W. Quastenflosser-Zahlt',
  review: 'Wilhelmina brought payslips of Quastel',
  review_code: 'QUASTENFLOSSER_IS_ILL',
  condition_code: 'CALL_QUASTEL',
  condition: 'Send the lease of the Lehmgrube',
  outcome: 'Quastenflosser moved abroad',
  note: 'Called Wilhelmina at noon',
  signature: 'Wilhelmina sold the branch',
  retraction: 'Quastenflosser had paid after all',
  hold: 'Quastenflosser against Hausverwaltung, 12 O 345',
  merge: 'Wilhelmina signed with both numbers',
  scenario: 'What Wilhelmina Quastenflosser asked',
  changed_feature: 'Quastwerke GmbH',
  response: 'stored for kunde-zq-88172',
} as const

/** A person of whom everything is stored that can be, in the sandbox. */
export interface StoredPerson {
  entityId: string
  decisionId: string
  /** A decision that was made before anything was known but the entity, without a reference. */
  firstDecisionId: string
}

const VERIFICATION = {
  status: 'verified',
  method: 'document',
  provider: PERSONAL_TEXTS.provider,
  reference: PERSONAL_TEXTS.verification_reference,
}

/** Stores everything of a person that there is a table for. */
export async function storePerson(
  { installation, database, store }: Scene,
  organization: TestOrganization,
): Promise<StoredPerson> {
  const texts = PERSONAL_TEXTS
  const post = async (path: string, body: object) => {
    const answer = await organization.post(path, body, { 'Idempotency-Key': crypto.randomUUID() })
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }
  const now = new Date(installation.nowMs()).toISOString()
  const provided_by = {
    kind: 'bank',
    name: texts.source_name,
    address: texts.source_address,
    phone: texts.source_phone,
  }
  const { id } = await post('/v1/entities', {
    external_id: texts.external_id,
    type: 'person',
    display_name: texts.display_name,
    country: 'DE',
    metadata: { address: texts.metadata },
  })
  const request = { entity_id: id, product: 'default', requested_amount: 900, currency: 'EUR' }
  const first = await post('/v1/underwrite', request)
  const identifier = { type: 'government_id', value: `ZQ-${texts.masked}`, issuer: texts.issuer }
  await post(`/v1/entities/${id}/identity-links`, { identifier, verification: VERIFICATION, provided_by })
  await post(`/v1/entities/${id}/consents`, {
    purpose: 'credit_underwriting',
    evidence: { method: 'signed_form', reference: texts.evidence },
  })
  const account = { id: `DE00 ZQZQ ${texts.masked}`, kind: 'current' }
  const transaction = {
    account,
    external_id: texts.transaction,
    occurred_at: now,
    amount: 12.5,
    currency: 'EUR',
    direction: 'debit',
    category: texts.category,
    description: texts.description,
    counterparty: { name: texts.counterparty },
  }
  const balances = [{ account, as_of: now.slice(0, 10), kind: 'closing', amount: 50, currency: 'EUR' }]
  await post(`/v1/entities/${id}/transactions`, { transactions: [transaction], balances, provided_by })
  await post(`/v1/entities/${id}/transactions`, { transactions: [{ ...transaction, corrects: true, amount: 13 }] })
  await post(`/v1/entities/${id}/feature-snapshots`, {
    source: texts.snapshot_source,
    as_of: now,
    features: { employer: texts.employer, months_employed: 14 },
    provided_by,
  })
  const decision = await post('/v1/underwrite', { ...request, reference: texts.reference })
  await post(`/v1/decisions/${decision.id}/reviews`, {
    verdict: 'approve_with_conditions',
    reviewer: { id: 'reviewer-1', name: 'Rita' },
    reason: texts.review,
    reason_codes: [texts.review_code],
    conditions: [{ code: texts.condition_code, label: texts.condition }],
  })
  // No case stays open, which would stand against the erasure.
  await post(`/v1/decisions/${first.id}/reviews`, {
    verdict: 'decline',
    reviewer: { id: 'reviewer-1', name: 'Rita' },
    reason: texts.review,
  })
  const outcome = await post(`/v1/decisions/${decision.id}/outcomes`, {
    type: 'closed',
    occurred_at: new Date(installation.nowMs()).toISOString(),
    note: texts.outcome,
  })
  const note = {
    id: installation.newId('nte'),
    case_id: 'cas_zq',
    entity_id: id,
    text: texts.note,
    author_id: 'opr_one',
    created_at: now,
  }
  const signature = {
    id: installation.newId('sig'),
    case_id: 'cas_zq',
    entity_id: id,
    body: JSON.stringify({ verdicts: [], reason: texts.signature }),
    signer_id: 'opr_one',
    created_at: now,
  }
  const retraction = {
    id: installation.newId('ret'),
    outcome_id: outcome.id,
    entity_id: id,
    step: 'proposed',
    reason: texts.retraction,
    actor_type: 'operator',
    actor_id: 'opr_one',
    taken_at: now,
  }
  const context = {
    organizationId: organization.id,
    actor: { type: 'system', id: 'test' },
    now,
    requestId: null,
    newId: installation.newId,
  } as const
  const scenario = { id: 'scn_zq', name: texts.scenario, request: JSON.stringify(request) }
  const ofDecision = { decision_id: decision.id, changes: { 'snapshot.employer': texts.changed_feature } }
  const changed = { id: 'scn_zr', name: 'Another employer', request: JSON.stringify(ofDecision) }
  await commitOrThrow(store, {
    organizationId: organization.id,
    rows: {
      playground_scenarios: [scenario, changed].map((one) => ({ ...one, saved_by: 'opr_one', saved_at: now })),
      case_notes: [note],
      case_signatures: [signature],
      outcome_retractions: [retraction],
    },
    auditEntries: [
      auditEntryRow(context, {
        type: 'case.noted',
        trailId: id,
        subject: { type: 'case_note', id: note.id },
        data: { entity_id: id, case_id: 'cas_zq', record_sha256: recordSha256<'case_notes'>(organization.id, note) },
      }),
      ...domainEventRows(context, [
        {
          type: 'case.signature_due',
          trailId: id,
          subject: { type: 'case_signature', id: signature.id },
          data: {
            entity_id: id,
            case_id: 'cas_zq',
            signature_id: signature.id,
            record_sha256: recordSha256<'case_signatures'>(organization.id, signature),
          },
        },
      ]),
      auditEntryRow(context, {
        type: 'decision.outcome_retraction_proposed',
        trailId: id,
        subject: { type: 'outcome_retraction', id: retraction.id },
        data: {
          entity_id: id,
          decision_id: decision.id,
          outcome_id: outcome.id,
          outcome_type: 'closed',
          record_sha256: recordSha256<'outcome_retractions'>(organization.id, retraction),
        },
      }),
    ],
  })
  await takeSteps({ installation, organization, entityId: id, post })
  const eventId = `evt_${decision.id.slice('dec_'.length)}`
  await database.query(
    `INSERT INTO webhook_attempts (org_id, endpoint_id, event_id, number, started_at, duration_ms, status, response)
     VALUES ($1, 'whe_zq', $2, 1, now(), 3, 500, $3)`,
    [organization.id, eventId, texts.response],
  )
  return { entityId: id, decisionId: decision.id, firstDecisionId: first.id }
}

/**
 * Two operators propose a legal hold and take the proposal back, merge the person with another entity, decide about that one, and
 * tell them apart again. The other entity stays, with a payment to the person.
 */
async function takeSteps({
  installation,
  organization,
  entityId,
  post,
}: {
  installation: Installation
  organization: TestOrganization
  entityId: string
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  post: (path: string, body: object) => Promise<any>
}): Promise<void> {
  const texts = PERSONAL_TEXTS
  const acting = async (name: string, reason: string) => {
    const fields = { email: `${name}-${entityId}@example.com`, name, role: 'owner' }
    const act = byOperator(await addOperator(installation, byService(organization.id), fields), { reason })
    // As at the command line: a session is not asked for, which audit verify would miss.
    return { ...act, by: { ...act.by, via: 'alice (uid 1000)' } }
  }
  const ada = await acting('ada', texts.hold)
  await holdEntity(installation, ada, { entity: entityId, move: 'propose' })
  await holdEntity(installation, ada, { entity: entityId, move: 'withdraw' })

  const { id: other } = await post('/v1/entities', { external_id: `other-of-${entityId}`, type: 'person' })
  const payment = {
    external_id: 'rent',
    occurred_at: new Date(installation.nowMs()).toISOString(),
    amount: 100,
    currency: 'EUR',
    direction: 'debit',
    counterparty: { name: texts.counterparty_of_another, entity_id: entityId },
  }
  await post(`/v1/entities/${other}/transactions`, { transactions: [payment] })
  await post(`/v1/entities/${other}/transactions`, { transactions: [{ ...payment, corrects: true, amount: 101 }] })
  const [merging, confirming] = [{ ...ada, reason: texts.merge }, await acting('grace', texts.merge)]
  for (const act of [merging, confirming]) await mergeEntities(installation, act, { entity: entityId, other })
  const request = { product: 'default', requested_amount: 900, currency: 'EUR' }
  await post('/v1/underwrite', { entity_id: other, ...request, reference: 'of-another-person' })
  for (const act of [merging, confirming]) await separateEntity(installation, act, entityId)
}

/** Everything that the databases hold of an organization, as text: its rows of all tables, and what is packed in segments. */
export async function readEverything(
  { storage }: Pick<Installation, 'storage'>,
  { id }: TestOrganization,
): Promise<string> {
  const written: string[] = []
  for (const database of [storage.control, storage.environments.sandbox, storage.environments.production])
    written.push(...(await readTables(database, id)))
  return written.join('\n')
}

async function readTables(database: Database, organizationId: string): Promise<string[]> {
  const tables = await database.query<{ table_name: string }>(
    'SELECT table_name FROM information_schema.tables WHERE table_schema = $1',
    [database.schema],
  )
  const written: string[] = []
  for (const { table_name: table } of tables) {
    const all = await database.query(`SELECT * FROM ${table}`)
    const rows = all.filter(({ org_id = organizationId }) => org_id === organizationId)
    written.push(JSON.stringify(rows))
    if (table === 'document_segments')
      written.push(JSON.stringify(rows.map(({ content }) => unpackSegment(content as Uint8Array))))
  }
  return written
}
