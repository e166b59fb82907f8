import type { Static, TObject } from 'typebox'
import { invalid, notFound } from '../../admin/problem.ts'
import { recordExport } from '../../admin/record-export.ts'
import { beginVerification, type KeptVerification } from '../../audit/begin-verification.ts'
import { Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { EVENT_TYPES } from '../../core/webhooks/event-types.ts'
import { lowestIdAt } from '../../ids/new-id.ts'
import type { Installation } from '../../installation/installation.ts'
import { listOperators } from '../../store/control/operators.ts'
import type { AuditLogPosition } from '../../store/environment/audit-log.ts'
import type { ListedAuditEntry } from '../../store/environment/audit-trail.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import { entryOf, leafHashOfListed } from '../../store/environment/stored-entry.ts'
import { defineOperation, type OperatorContext } from '../define-operation.ts'

const ENTRIES_PER_PAGE_MAX = 500
const Word = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }))

const Filter = {
  actor: Word(255),
  type: Word(100),
  target: Word(64),
  from: Word(40),
  before: Word(40),
  cursor: Word(64),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: ENTRIES_PER_PAGE_MAX })),
}

/** Lists the entries of the environment's log, newest first. */
const listAuditLog = defineOperation({
  summary: 'Entries of the audit log, newest first, by actor, type, target and time',
  access: 'see the console',
  input: Strict(Filter),
  audit: [],
  handle: (context) => pageOf(context),
})

/** Reads entries for a file, page by page. The first page puts on the log who exports, and what. */
const exportAuditLog = defineOperation({
  summary: 'Read entries of the audit log for a file',
  access: recordExport.permission,
  input: Strict(Filter),
  audit: ['data.exported'],
  async handle(context) {
    const { cursor, limit: _, ...filter } = context.input
    if (cursor === undefined) await recordExport(context.installation, context.act, { list: 'audit log', filter })
    return pageOf(context)
  },
})

async function pageOf({ input, organizationId, store, installation }: OperatorContext<Static<TObject<typeof Filter>>>) {
  const { actor, type, target, from, before, cursor, limit = 50 } = input
  const [fromMs, beforeMs] = [from, before].map((time) => (time === undefined ? undefined : Date.parse(time)))
  if (Number.isNaN(fromMs) || Number.isNaN(beforeMs))
    throw invalid('date_malformed', 'A date of the filter cannot be read.')
  const after = cursor === undefined ? undefined : readPosition(cursor)
  const filter = {
    actor,
    type,
    target,
    fromId: fromMs === undefined ? undefined : lowestIdAt('aud', fromMs),
    beforeId: beforeMs === undefined ? undefined : lowestIdAt('aud', beforeMs),
  }
  const page = await store.auditLog.page(organizationId, filter, { after, limit })
  const names = await actorNames(installation, store, organizationId)
  return {
    entries: page.entries.map((entry) => describeEntry(entry, names)),
    next_cursor: page.next && positionText(page.next),
    /** The page is not full because one call looks at a bounded number of entries; more may match further back. */
    is_cut_short: page.is_cut_short,
  }
}

/** Reads one entry of the environment's log. */
const readAuditEntry = defineOperation({
  summary: 'One entry of the audit log',
  access: 'see the console',
  input: Strict({ id: Type.String({ minLength: 1, maxLength: 64 }) }),
  audit: [],
  async handle({ input: { id }, organizationId, store, installation }) {
    const entry = await store.auditLog.entry(organizationId, id)
    if (!entry) throw notFound('entry_not_found', 'This environment’s log has no such entry.')
    return describeEntry(entry, await actorNames(installation, store, organizationId))
  },
})

/** Reads what the log can be filtered by: types of entries, and actors with their names. */
const readAuditLogFilters = defineOperation({
  summary: 'The types and actors that the audit log can be filtered by',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle({ organizationId, store, installation }) {
    const { types, actors } = await store.auditLog.vocabulary(organizationId)
    const names = await actorNames(installation, store, organizationId)
    const keys = [...names.keys()].filter((id) => id.startsWith('key_'))
    const audited = EVENT_TYPES.filter((type) => type !== 'audit.checkpoint')
    return {
      types: [...new Set([...audited, ...types])].sort(),
      actors: [...new Set([...actors, ...keys])].map((id) => ({ id, name: names.get(id) ?? null })),
    }
  },
})

/** Reads the state of the environment's log: its signed head, and when it was last verified. */
const readAuditLogStatus = defineOperation({
  summary: 'The signed head of the audit log, and its last verification',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle({ organizationId, store, installation }) {
    const head = await store.auditLog.newestHead(organizationId)
    const run = await store.verificationRuns.newest(organizationId)
    const names = await actorNames(installation, store, organizationId)
    const named = (id: string) => ({ id, name: names.get(id) ?? null })
    return {
      head: head
        ? { size: head.tree_size, root_hash: head.root_hash, signed_at: head.signed_at, key_id: head.key_id }
        : null,
      running: run?.is_running
        ? { by: named(run.started_by), at: run.started_at, leaves: run.leaves_done, of: run.leaves_size }
        : null,
      failure: run?.is_abandoned ? 'The node that verified the log stopped before the end.' : (run?.failure ?? null),
      verified: run?.result
        ? { ...(JSON.parse(run.result) as KeptVerification), by: named(run.result_by!), at: run.result_at! }
        : null,
    }
  },
})

/** Begins to verify the environment's log in the background. */
const verifyLog = defineOperation({
  summary: 'Verify the audit log in the background',
  access: 'verify the audit log',
  input: Strict({}),
  audit: ['audit_log.verified'],
  async handle({ organizationId, environment, operator, store, installation, requestId }) {
    const { knownHeads, masterKey, newId, nowMs } = installation
    const { begun } = await beginVerification({
      organizationId,
      environment,
      store,
      newId,
      nowMs,
      operatorId: operator.id,
      requestId,
      people: installation.stores.production,
      control: installation.storage.control,
      knownHeads: knownHeads[environment],
      publicKeys: masterKey.auditPublicKeys(environment),
    })
    return { begun }
  },
})

function describeEntry(row: ListedAuditEntry, names: ReadonlyMap<string, string>) {
  const entry = entryOf(row)
  return {
    ...entry,
    actor: { ...entry.actor, name: names.get(entry.actor.id) ?? null },
    leaf_hash: leafHashOfListed(row),
    /** The index of its leaf in the tree; null while it waits for the sealer. */
    leaf_index: row.leaf_index,
  }
}

/** The names of the operators and the API keys of an organization, by id; both are few. */
async function actorNames(
  { storage }: Installation,
  store: EnvironmentStore,
  organizationId: string,
): Promise<Map<string, string>> {
  const operators = await listOperators(storage.control, organizationId)
  const keys = await store.apiKeys.list(organizationId)
  return new Map([...operators, ...keys].map(({ id, name }) => [id, name]))
}

function positionText(position: AuditLogPosition): string {
  return 'id' in position ? position.id : `seq_${position.seq}`
}

function readPosition(text: string): AuditLogPosition {
  const seq = /^seq_(\d{1,15})$/.exec(text)?.[1]
  if (seq) return { seq: Number(seq) }
  if (!/^aud_\w{26}$/.test(text)) throw invalid('cursor_malformed', 'This page of the list does not exist.')
  return { id: text }
}

/** The operations `audit-log.<verb>`. */
export const auditLog = {
  list: listAuditLog,
  export: exportAuditLog,
  'show-entry': readAuditEntry,
  'list-filters': readAuditLogFilters,
  'show-status': readAuditLogStatus,
  verify: verifyLog,
}
