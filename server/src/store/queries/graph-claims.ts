import type { Assertion } from '../../core/graph/claim.ts'
import { FAN_OUT } from '../../core/graph/link.ts'
import type { Database, Row } from '../database/database.ts'
import type { Params, RowOf } from '../schema/tables.ts'

/** An entity that has an identifier, with the latest assertion of each status about that. */
export interface IdentifierHolder {
  entityId: string
  assertions: Assertion[]
}

/** The assertions of both ends about one claim that links them, seen from one end. */
export interface AssertionsOfEnds {
  own: readonly Assertion[]
  theirs: readonly Assertion[]
}

const INSTANTS = 'verified_at, failed_at, unverified_at'

/**
 * How many links one failed check removes at once. An identifier with more holders than that is shared by a crowd, and the
 * links it leaves behind expire by themselves.
 */
const REMOVED_LINKS_MAX = 1_000

/** How many of an entity's identifiers of one type are compared with those of other entities. */
const IDENTIFIERS_COMPARED_MAX = 100

/** Reads of claims (identifiers and relationships) and of the assertions about them. Each is an index read with a limit. */
export function claimQueries(database: Database) {
  return {
    /**
     * The claims that an assertion about an identifier depends on, each with its next optimistic-lock version: that
     * identifier, and the entity's others of the same type, because all of them together make one link.
     * INVARIANT: read before any assertion, so that a commit fails if another assertion was written in between.
     */
    async nextIdentifierClaims(
      organizationId: string,
      hash: string,
      { entityId, type }: { entityId: string; type: string },
    ): Promise<RowOf<'graph_claims'>[]> {
      const others = `SELECT identifier_hash FROM identifier_holders
        WHERE org_id = $1 AND entity_id = $3 AND type = $4 AND identifier_hash <> $2 ORDER BY identifier_hash LIMIT ${IDENTIFIERS_COMPARED_MAX}`
      return database.query<RowOf<'graph_claims'> & Row>(
        `SELECT $1::text AS org_id, asserted.claim, coalesce(known.version, 0) + 1 AS version
         FROM (SELECT $2::text AS claim UNION ALL (${others})) AS asserted
         LEFT JOIN graph_claims AS known ON known.org_id = $1 AND known.claim = asserted.claim`,
        [organizationId, hash, entityId, type],
      )
    },

    /**
     * The claim of a relationship with its next optimistic-lock version; the same claim from either end.
     * INVARIANT: read before any assertion, as for an identifier.
     */
    async nextRelationshipClaims(
      organizationId: string,
      { from, to, relationship }: { from: string; to: string; relationship: string },
    ): Promise<RowOf<'graph_claims'>[]> {
      const claim = [relationship, ...[from, to].sort()].join(' ')
      const [known] = await database.query<{ version: number }>(
        'SELECT version FROM graph_claims WHERE org_id = $1 AND claim = $2',
        [organizationId, claim],
      )
      return [{ org_id: organizationId, claim, version: (known?.version ?? 0) + 1 }]
    },

    /**
     * The holders of an identifier: the entity itself, if it is one; then others by rank (verified first, then oldest), up
     * to the fan-out; and as many again that have bad outcomes, so that a crowd of other holders cannot hide them. Others
     * whose check failed are not holders.
     */
    async identifierHolders(organizationId: string, hash: string, entityId: string): Promise<IdentifierHolder[]> {
      const others = (filter: string) => `(SELECT entity_id, ${INSTANTS} FROM identifier_holders
        WHERE org_id = $1 AND identifier_hash = $2 AND standing <> 'failed' ${filter} AND entity_id <> $3
        ORDER BY (standing <> 'verified'), first_at, entity_id LIMIT ${FAN_OUT})`
      const rows = await database.query<Row & { entity_id: string }>(
        `SELECT entity_id, ${INSTANTS} FROM identifier_holders WHERE org_id = $1 AND identifier_hash = $2 AND entity_id = $3
         UNION ${others('')} UNION ${others('AND is_adverse')}`,
        [organizationId, hash, entityId],
      )
      return rows.map((row) => ({ entityId: row.entity_id, assertions: assertionsOf(row) }))
    },

    /** The holders of an identifier that are linked to an entity by its type: the links which that identifier may have made. */
    async linkedHolders(
      organizationId: string,
      hash: string,
      { entityId, type }: { entityId: string; type: string },
    ): Promise<IdentifierHolder[]> {
      const rows = await database.query<Row & { entity_id: string }>(
        `SELECT holder.* FROM graph_links AS link CROSS JOIN LATERAL (
           SELECT entity_id, ${INSTANTS} FROM identifier_holders
           WHERE org_id = $1 AND identifier_hash = $2 AND identifier_holders.entity_id = link.neighbour_id LIMIT 1
         ) AS holder
         WHERE link.org_id = $1 AND link.entity_id = $3 AND link.type = $4 ORDER BY link.neighbour_id LIMIT ${REMOVED_LINKS_MAX}`,
        [organizationId, hash, entityId, type],
      )
      return rows.map((row) => ({ entityId: row.entity_id, assertions: assertionsOf(row) }))
    },

    /** The other identifiers of one type, besides the given one, that an entity shares with each of the others. */
    async sharedIdentifiers(
      organizationId: string,
      { entityId, type, exceptHash }: { entityId: string; type: string; exceptHash: string },
      otherIds: readonly string[],
    ): Promise<(AssertionsOfEnds & { entityId: string })[]> {
      if (otherIds.length === 0) return []
      const of = (end: 'own' | 'theirs') =>
        `${end}.verified_at AS ${end}_verified_at, ${end}.failed_at AS ${end}_failed_at, ${end}.unverified_at AS ${end}_unverified_at`
      const rows = await database.query<Row & { entity_id: string }>(
        `SELECT theirs.entity_id, ${of('own')}, ${of('theirs')} FROM (
           SELECT * FROM identifier_holders WHERE org_id = $1 AND entity_id = $2 AND type = $3 AND identifier_hash <> $4
           ORDER BY identifier_hash LIMIT ${IDENTIFIERS_COMPARED_MAX}
         ) AS own
         CROSS JOIN unnest($5::text[]) AS other (id) CROSS JOIN LATERAL (
           SELECT entity_id, ${INSTANTS} FROM identifier_holders
           WHERE org_id = $1 AND identifier_hash = own.identifier_hash AND identifier_holders.entity_id = other.id LIMIT 1
         ) AS theirs`,
        [organizationId, entityId, type, exceptHash, otherIds],
      )
      return rows.map((row) => ({
        entityId: row.entity_id,
        own: assertionsOf(row, 'own_'),
        theirs: assertionsOf(row, 'theirs_'),
      }))
    },

    /** The assertions of two entities about one relationship between them: the latest of each status. */
    async relationshipAssertions(
      organizationId: string,
      { from, to, relationship }: { from: string; to: string; relationship: string },
    ): Promise<AssertionsOfEnds> {
      const rows = await database.query<{
        entity_id: string
        status: Assertion['status']
        at: string
        share: number | null
      }>(
        `SELECT way.entity_id, kind.status, latest.at, latest.share
         FROM (VALUES ($2::text, $3::text), ($3::text, $2::text)) AS way (entity_id, related_entity_id)
         CROSS JOIN (VALUES ('verified'), ('unverified'), ('failed')) AS kind (status)
         CROSS JOIN LATERAL (
           SELECT coalesce(verified_at, created_at) AS at, ownership_share AS share FROM identity_links
           WHERE org_id = $1 AND entity_id = way.entity_id AND related_entity_id = way.related_entity_id
             AND relationship = $4 AND verification_status = kind.status
           ORDER BY coalesce(verified_at, created_at) DESC, ownership_share DESC NULLS FIRST LIMIT 1
         ) AS latest`,
        [organizationId, from, to, relationship],
      )
      const assertionsBy = (entityId: string) =>
        rows
          .filter(({ entity_id }) => entity_id === entityId)
          .map(({ status, at, share }): Assertion => ({ status, at, ...(share !== null && { share }) }))
      return { own: assertionsBy(from), theirs: assertionsBy(to) }
    },
  }
}

/** The latest assertion of each status, from the columns that hold their instants. */
function assertionsOf(row: Row, prefix = ''): Assertion[] {
  const columns: [Assertion['status'], string][] = [
    ['verified', 'verified_at'],
    ['failed', 'failed_at'],
    ['unverified', 'unverified_at'],
  ]
  return columns.flatMap(([status, column]) => {
    const at = row[`${prefix}${column}`] as string | null
    return at === null ? [] : [{ status, at }]
  })
}

/** `INSERT` of identifier holders, in the SQL statement that writes their assertions; keeps the latest instant of each status. */
export function upsertIdentifierHolders(links: readonly RowOf<'identity_links'>[], params: Params): string {
  const column = (read: (link: RowOf<'identity_links'>) => string | null, type: string) =>
    params.add(links.map(read), type)
  const given = [
    column((link) => link.org_id, 'text[]'),
    column((link) => link.identifier_hash, 'text[]'),
    column((link) => link.entity_id, 'text[]'),
    column((link) => link.identifier_type, 'text[]'),
    column((link) => link.verification_status, 'text[]'),
    column((link) => link.verified_at ?? link.created_at, 'timestamptz[]'),
  ]
  const latest = (status: Assertion['status']) => `max(at) FILTER (WHERE status = '${status}')`
  return `INSERT INTO identifier_holders AS known (org_id, identifier_hash, entity_id, type, ${INSTANTS}, first_at, is_adverse)
    SELECT org_id, hash, entity_id, type, ${latest('verified')}, ${latest('failed')}, ${latest('unverified')}, min(at),
      EXISTS (SELECT 1 FROM graph_track_records AS own WHERE own.org_id = given.org_id AND own.entity_id = given.entity_id AND own.is_adverse)
    FROM unnest(${given.join(', ')}) AS given (org_id, hash, entity_id, type, status, at)
    GROUP BY org_id, hash, entity_id, type ORDER BY org_id, hash, entity_id
    ON CONFLICT (org_id, identifier_hash, entity_id) DO UPDATE SET
      verified_at = greatest(known.verified_at, excluded.verified_at), failed_at = greatest(known.failed_at, excluded.failed_at),
      unverified_at = greatest(known.unverified_at, excluded.unverified_at), first_at = least(known.first_at, excluded.first_at),
      is_adverse = excluded.is_adverse`
}
