import { batchedRead } from '../database/batched-read.ts'
import { type Database, DatabaseError, type Row } from '../database/database.ts'
import { columnsOf, insertRows, type NewRow, ofOrganization, Params, type RowOf } from '../schema/tables.ts'
import { type Authenticate, type FlushMac, insertAuditEntries, listForSealing } from '../write-path/audit-insert.ts'
import { dataOf } from '../write-path/entry-data.ts'
import { TAKE_FLUSH_NUMBER } from '../write-path/flush-number.ts'
import type { AuditEntryRow, EventRow } from '../write-path/record.ts'
import { recordSha256 } from '../write-path/record-hash.ts'
import { fanOutEvents } from '../write-path/webhook-statements.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { type IsAuthentic, type StoredEntry, sealedLeaf } from './stored-entry.ts'

/** The state of a stored policy. A draft is not stored: it is a file of its author. */
export type PolicyState = 'proposed' | 'approved' | 'rejected' | 'active' | 'retired'

/** The fields of a policy that deciding and replaying need; `document` is its canonical JSON. */
export type DecidingPolicy = Pick<RowOf<'policies'>, 'id' | 'version' | 'checksum' | 'document'>

/** The active policy, and whether the log confirms it. */
export type ActivePolicy = DecidingPolicy & {
  /** The checksum that an authentic entry of its activation names; null if its trail does not end with such an entry. */
  activated_checksum: string | null
}

/** A policy as it was proposed, with its current state and the number of steps taken so far. */
export type StoredPolicy = RowOf<'policies'> & { state: PolicyState; steps_taken: number }

/** A stored policy without its document and source, for lists. */
export type ListedPolicy = Omit<StoredPolicy, 'document' | 'source'>

/** A step that an operator or the installation took with a policy: proposed, approved, activated … */
export type PolicyStep = RowOf<'policy_steps'>

/** A switch of the active policy, with the rows to write with it. */
export interface PolicySwitch {
  organizationId: string
  policy: Pick<RowOf<'policies'>, 'id' | 'checksum'>
  /** The policy that the caller saw active, if any; the switch fails if another one is active by then. */
  replacesId: string | undefined
  activatedAt: string
  /** Policies to insert with the switch: one that is proposed and activated at once. */
  newPolicies?: NewRow<'policies'>[]
  steps: NewRow<'policy_steps'>[]
  event: EventRow
  auditEntries: AuditEntryRow[]
  /** The key of the request that switches; the switch fails if the key was written first. */
  idempotencyKey?: NewRow<'idempotency_keys'>
}

const DECIDING = 'policy.id, policy.version, policy.checksum, policy.document'
/** The types of entries of which a step of a policy has one. */
const STEP_ENTRIES = ['proposed', 'approved', 'rejected', 'activated', 'retired'].map((step) => `policy.${step}`)
const LONG_TEXTS = ['document', 'source']

/** Reads of policies, and the switch of the active policy. */
export function policyQueries(
  database: Database,
  { authenticate, macOf, isAuthentic }: { authenticate: Authenticate; macOf: FlushMac; isAuthentic: IsAuthentic },
) {
  return {
    /** The active policy of an organization, if it has one. */
    active: batchedRead<string, ActivePolicy>({
      keyText: (organizationId) => organizationId,
      load: (organizationIds) => readActive(database, isAuthentic, organizationIds),
    }),

    /** The policy with this version name, if the organization has it. */
    async byVersion(organizationId: string, version: string): Promise<StoredPolicy | undefined> {
      const [policy] = await database.query<StoredPolicy & Row>(
        `${selectPolicies(columnsOf('policies'))} WHERE policy.org_id = $1 AND policy.version = $2`,
        [organizationId, version],
      )
      return policy
    },

    /** Lists the policies of an organization, newest first. */
    async list(organizationId: string): Promise<ListedPolicy[]> {
      const columns = columnsOf('policies').filter((column) => !LONG_TEXTS.includes(column))
      return database.query<ListedPolicy & Row>(
        `${selectPolicies(columns)} WHERE policy.org_id = $1 ORDER BY policy.id DESC`,
        [organizationId],
      )
    },

    /** Lists the steps of a policy, in order. */
    steps: (organizationId: string, policyId: string) => readSteps(database, organizationId, policyId),

    /** Whether the log confirms a stored policy: it is the proposed one, and its steps are those that the log recorded. */
    async isConfirmed(stored: StoredPolicy): Promise<boolean> {
      const { state: _state, steps_taken, ...policy } = stored
      const { org_id: organizationId, id } = policy
      const entries = await database.query<StoredEntry & Row>(
        `SELECT ${ENTRY_COLUMNS}, ${sealedLeaf('entry')} AS sealed_leaf FROM audit_entries AS entry
         WHERE org_id = $1 AND trail_id = $2 AND type = ANY($3::text[]) ORDER BY seq`,
        [organizationId, id, STEP_ENTRIES],
      )
      const steps = await readSteps(database, organizationId, id)
      const recorded = entries.filter(isAuthentic).map(dataOf)
      return (
        recorded.length === steps.length &&
        recorded.length === entries.length &&
        steps_taken === steps.length &&
        recorded[0]?.policy_sha256 === recordSha256<'policies'>(organizationId, policy) &&
        steps.every(
          (step, index) => recorded[index]?.record_sha256 === recordSha256<'policy_steps'>(organizationId, step),
        )
      )
    },

    /** The first organization after another one, by its id, that has an active policy. */
    async nextWithActive(afterOrganizationId: string): Promise<string | undefined> {
      const [row] = await database.query<{ org_id: string }>(
        'SELECT org_id FROM active_policies WHERE org_id > $1 ORDER BY org_id LIMIT 1',
        [afterOrganizationId],
      )
      return row?.org_id
    },

    /** The comments on a policy, oldest first: the newest 200. */
    async comments(organizationId: string, policyId: string): Promise<RowOf<'policy_comments'>[]> {
      const rows = await database.query<RowOf<'policy_comments'> & Row>(
        `SELECT ${columnsOf('policy_comments').join(', ')} FROM policy_comments WHERE org_id = $1 AND policy_id = $2
         ORDER BY id DESC LIMIT 200`,
        [organizationId, policyId],
      )
      return rows.reverse()
    },

    /** Activates a policy; false, with nothing written, if a concurrent writer took a step of it or switched first. */
    async switchActive(policySwitch: PolicySwitch): Promise<boolean> {
      const { sql, params } = switchStatement(policySwitch, { authenticate, macOf })
      try {
        await database.query(sql, params)
        return true
      } catch (error) {
        if (error instanceof DatabaseError && lostRace(error)) return false
        throw error
      }
    },
  }
}

function readSteps(database: Database, organizationId: string, policyId: string): Promise<PolicyStep[]> {
  return database.query<PolicyStep & Row>(
    `SELECT ${columnsOf('policy_steps').join(', ')} FROM policy_steps WHERE org_id = $1 AND policy_id = $2 ORDER BY number`,
    [organizationId, policyId],
  )
}

async function readActive(
  database: Database,
  isAuthentic: IsAuthentic,
  organizationIds: readonly string[],
): Promise<Map<string, ActivePolicy>> {
  const entryColumns = [
    ...columnsOf('audit_entries').map((column) => `newest.${column} AS entry_${column}`),
    `${sealedLeaf('newest')} AS entry_sealed_leaf`,
  ]
  // The newest entry of its trail, because a policy that was retired or rejected since must not decide either.
  const rows = await database.query<DecidingPolicy & Row & { org_id: string }>(
    `SELECT active.org_id, ${DECIDING}, ${entryColumns.join(', ')} FROM active_policies AS active
     JOIN policies AS policy ON policy.org_id = active.org_id AND policy.id = active.policy_id
     LEFT JOIN LATERAL (SELECT * FROM audit_entries AS entry WHERE entry.org_id = active.org_id AND entry.trail_id = active.policy_id
       ORDER BY entry.seq DESC LIMIT 1) AS newest ON true
     WHERE active.org_id = ANY($1::text[])`,
    [organizationIds],
    { keepPlan: true },
  )
  return new Map(
    rows.map((row) => {
      const { org_id, id, version, checksum, document } = row
      return [org_id, { id, version, checksum, document, activated_checksum: activatedChecksum(row, isAuthentic) }]
    }),
  )
}

function activatedChecksum(row: Row, isAuthentic: IsAuthentic): string | null {
  const entry = Object.fromEntries(
    [...columnsOf('audit_entries'), 'sealed_leaf'].map((column) => [column, row[`entry_${column}`]]),
  ) as StoredEntry
  if (entry.type !== 'policy.activated' || !isAuthentic(entry)) return null
  return dataOf(entry).policy_checksum as string
}

/** The state of a policy: active if `active_policies` names it, otherwise its newest step. */
function selectPolicies(columns: readonly string[]): string {
  return `SELECT ${columns.map((column) => `policy.${column}`).join(', ')}, newest.number AS steps_taken,
      CASE WHEN active.policy_id = policy.id THEN 'active' ELSE newest.step END AS state
    FROM policies AS policy
    JOIN LATERAL (
      SELECT number, step FROM policy_steps WHERE org_id = policy.org_id AND policy_id = policy.id ORDER BY number DESC LIMIT 1
    ) AS newest ON true
    LEFT JOIN active_policies AS active ON active.org_id = policy.org_id`
}

/** One statement, so that the switch, its steps, its audit entries and its event are written together or not at all. */
function switchStatement(
  policySwitch: PolicySwitch,
  { authenticate, macOf }: { authenticate: Authenticate; macOf: FlushMac },
): { sql: string; params: unknown[] } {
  const { organizationId, newPolicies = [], steps, auditEntries, idempotencyKey } = policySwitch
  const params = new Params()
  const own = <R extends object>(rows: readonly R[]) => ofOrganization(organizationId, rows)
  const event = own([policySwitch.event])
  const entries = own(authenticate(organizationId, auditEntries))
  const parts = [
    TAKE_FLUSH_NUMBER,
    `switched AS (${setActivePolicy(policySwitch, params)})`,
    `new_policies AS (${insertRows('policies', own(newPolicies), params)})`,
    `steps AS (${insertRows('policy_steps', own(steps), params)})`,
    ...(idempotencyKey ? [`key AS (${insertRows('idempotency_keys', own([idempotencyKey]), params)})`] : []),
    `event AS (${insertRows('events', event, params)})`,
    `deliveries AS (${fanOutEvents(event, params)})`,
    `entries AS (${insertAuditEntries(entries, params)})`,
    `listed AS (${listForSealing(entries, params, { macOf })})`,
  ]
  const sql = `WITH ${parts.join(',\n')}\nSELECT require_rows((SELECT count(*) FROM switched), 1, 'active_policy')`
  return { sql, params: params.values }
}

function setActivePolicy({ organizationId, policy, replacesId, activatedAt }: PolicySwitch, params: Params): string {
  const organization = params.add(organizationId, 'text')
  const id = params.add(policy.id, 'text')
  const checksum = params.add(policy.checksum, 'text')
  const at = params.add(activatedAt, 'timestamptz')
  if (replacesId === undefined)
    return `INSERT INTO active_policies (org_id, policy_id, checksum, activated_at)
      SELECT ${organization}, ${id}, ${checksum}, ${at} ON CONFLICT DO NOTHING RETURNING 1`
  return `UPDATE active_policies SET policy_id = ${id}, checksum = ${checksum}, activated_at = ${at}
    WHERE org_id = ${organization} AND policy_id = ${params.add(replacesId, 'text')} RETURNING 1`
}

/** Another policy was active (VG001), another writer took the step, or two switches deadlocked: nothing was written. */
function lostRace(error: DatabaseError): boolean {
  return error.code === 'VG001' || error.isUniqueViolation || error.isTransient
}
