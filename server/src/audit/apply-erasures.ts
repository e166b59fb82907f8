/**
 * Compares the database with the erasures that this node knows, and applies again what an older backup has brought back.
 *
 *     file is there                      every known erasure whose entity is stored is applied again, before the node serves
 *     file is missing, first start       it is made
 *     file is missing, database in place another node has compared it: the file is made of what the database knows
 *     file is missing otherwise          the database may be older than an erasure: the start is refused
 *
 * A running node compares again on every new timeline of the database.
 */
import type { Environment } from '../config.ts'
import type { SignedErasure } from '../core/audit/signed-erasure.ts'
import { DatabaseUnavailable } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { Erasure } from '../store/environment/erasures.ts'
import { auditEntryRow, eventRow, type RecordContext } from '../store/write-path/record.ts'
import { type KnownErasures, MissingErasures } from './known-erasures.ts'
import type { KnownHeads } from './known-heads.ts'
import { compareEnds, isBehind } from './lost-entries.ts'

/** What comparing the erasures of one environment needs. */
export interface ErasureParts {
  environment: Environment
  store: EnvironmentStore
  knownErasures: KnownErasures
  knownHeads: KnownHeads
  /** The embedded database belongs to one data folder. */
  isEmbedded: boolean
  context: Omit<RecordContext, 'organizationId'>
}

/** An entity that was erased again, because a backup had brought it back. */
export interface ErasedAgain {
  environment: Environment
  organization_id: string
  entity_id: string
}

/** Applies known erasures to the database if need be, and adds those of the database to the file. */
export async function applyErasures(parts: ErasureParts): Promise<ErasedAgain[]> {
  const { environment, store, knownErasures, context } = parts
  const { place, comparedAt } = await store.erasures.compared()
  knownErasures.reload()
  if (await isMissing(parts, { place, comparedAt }))
    throw new MissingErasures(
      `${knownErasures.file} is missing, and the ${environment} database may be older than an erasure: put the file of any node back, run audit apply-erasures --from <file> --environment ${environment}, or, if there is none, audit waive-erasures --reason "…"`,
    )
  if (place !== null) knownErasures.make()
  const again = await eraseAgain(parts)
  if (knownErasures.exists()) await rememberErasures(parts)
  if (place !== null && place !== comparedAt) await store.erasures.noteCompared(place, context.now)
  return again
}

/** Whether the file was lost, and the database may lack erasures that were in it. */
export async function isMissing(
  { store, knownErasures, knownHeads, isEmbedded }: ErasureParts,
  { place, comparedAt }: { place: string | null; comparedAt: string | undefined },
): Promise<boolean> {
  if (knownErasures.exists()) return false
  if (comparedAt !== undefined && (isEmbedded || (place !== null && place !== comparedAt))) return true
  // Files that were copied back are where they were; the heads tell.
  knownHeads.reload()
  const ids = knownHeads.organizationIds()
  const ends = ids.length === 0 ? [] : await store.sealing.logEnds(ids)
  return (await compareEnds(store, ends, (id) => knownHeads.newest(id))).some(isBehind)
}

/** Adds erasures that the database has to the file; `since` spares a running node those that it has added before. */
export async function rememberErasures(
  { store, knownErasures }: Pick<ErasureParts, 'store' | 'knownErasures'>,
  since = '1970-01-01T00:00:00Z',
): Promise<void> {
  const isKnown = ({ org_id, entity_id }: Pick<Erasure, 'org_id' | 'entity_id'>) =>
    knownErasures.has({ organization_id: org_id, entity_id })
  for await (const erasures of store.erasures.approvedSince(since, isKnown)) keepErasures(knownErasures, erasures)
}

/** Writes erasures that the log confirms to the file. */
export function keepErasures(knownErasures: KnownErasures, erasures: readonly Erasure[]): void {
  knownErasures.add(
    erasures.map(({ org_id, entity_id, entry_id, proposed_by, approved_at }) => ({
      organization_id: org_id,
      entity_id,
      entry_id,
      proposed_by,
      approved_at,
    })),
  )
}

const PER_READ = 1_000
const ATTEMPTS_MAX = 20
const REASON = 'It was erased before, and the database was restored from an older backup.'

async function eraseAgain(parts: ErasureParts): Promise<ErasedAgain[]> {
  const { environment, store, knownErasures } = parts
  const all = knownErasures.all().map((erasure) => ({ ...erasure, org_id: erasure.organization_id }))
  const again: ErasedAgain[] = []
  for (let from = 0; from < all.length; from += PER_READ) {
    const stored = await store.erasures.stored(all.slice(from, from + PER_READ))
    knownErasures.requireOwn(stored)
    for (const erasure of stored) {
      await eraseOne(parts, erasure)
      again.push({ environment, organization_id: erasure.organization_id, entity_id: erasure.entity_id })
    }
  }
  return again
}

/** Erases an entity as its two operators did; nothing to do if another node was faster. */
async function eraseOne(parts: ErasureParts, known: SignedErasure): Promise<void> {
  const { organization_id: organizationId, entity_id, entry_id, proposed_by } = known
  const context = { ...parts.context, organizationId }
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const entity = await parts.store.entities.find({ organizationId, id: entity_id })
    if (!entity) return
    const entry = auditEntryRow(context, {
      type: 'entity.erased',
      trailId: entity_id,
      subject: { type: 'entity', id: entity_id },
      data: { entity_id, reason: REASON, proposed_by: proposed_by ?? '', lost_entry_id: entry_id },
    })
    const { lost } = await parts.store.commit({
      organizationId,
      newErasures: [{ entity_id, version: entity.version, entry_id: entry.id, approved_at: context.now }],
      rows: { events: [eventRow(context, 'entity.erased', { entity_id })] },
      auditEntries: [entry],
    })
    if (!lost) return
  }
  throw new DatabaseUnavailable(
    `${entity_id} of ${organizationId}, which was erased, could not be erased again: run audit verify`,
  )
}
