import type { Statement } from '../../core/graph/claim.ts'
import { FAN_OUT } from '../../core/graph/link.ts'
import type { Database, Row } from '../database/database.ts'
import type { Params, RowOf } from '../schema/tables.ts'

/** Somebody who has an identifier, and the latest statements of each kind about that. */
export interface IdentifierHolder {
  entityId: string
  statements: Statement[]
}

/** What each of two ends says of a link between them. */
export interface StatementsOfEnds {
  own: Statement[]
  theirs: Statement[]
}

const INSTANTS = 'verified_at, failed_at, claimed_at'

/** How many links one failed check takes back at once; whoever has more has them from a crowd, and they fade. */
const TAKEN_BACK_MAX = 1_000

/** How many identifiers of one type are compared when one of them is stated. */
const COMPARED_MAX = 100

/** What was said of identifiers and relationships. Each read is bounded by its indexes, whatever stands there. */
export function claimQueries(database: Database) {
  return {
    /**
     * What somebody who states an identifier speaks of: it, and whatever else of its type the entity has, because all of it
     * together makes one link. INVARIANT: read before anything that was said, so that nothing said in between is overlooked.
     */
    async nextIdentifierClaims(
      organizationId: string,
      hash: string,
      { entityId, type }: { entityId: string; type: string },
    ): Promise<RowOf<'graph_claims'>[]> {
      const others = `SELECT identifier_hash FROM identifier_holders
        WHERE org_id = $1 AND entity_id = $3 AND type = $4 AND identifier_hash <> $2 ORDER BY identifier_hash LIMIT ${COMPARED_MAX}`
      return database.query<RowOf<'graph_claims'> & Row>(
        `SELECT $1::text AS org_id, stated.claim, coalesce(known.version, 0) + 1 AS version
         FROM (SELECT $2::text AS claim UNION ALL (${others})) AS stated
         LEFT JOIN graph_claims AS known ON known.org_id = $1 AND known.claim = stated.claim`,
        [organizationId, hash, entityId, type],
      )
    },

    /** What somebody who states a relationship speaks of, whichever end it is. INVARIANT: as with an identifier, read first. */
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
     * Who has an identifier: the entity itself, if it does; those who verified it first, then the oldest, no more than are
     * followed; and as many of those with bad outcomes, so that no crowd can hide them. Those whose check failed have it not.
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
      return rows.map((row) => ({ entityId: row.entity_id, statements: statementsOf(row) }))
    },

    /** Those whom an identifier may have linked to an entity: to whom it is linked by that type, and who have the identifier. */
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
         WHERE link.org_id = $1 AND link.entity_id = $3 AND link.type = $4 ORDER BY link.neighbour_id LIMIT ${TAKEN_BACK_MAX}`,
        [organizationId, hash, entityId, type],
      )
      return rows.map((row) => ({ entityId: row.entity_id, statements: statementsOf(row) }))
    },

    /** What else of one type an entity has in common with others, besides one identifier. */
    async sharedIdentifiers(
      organizationId: string,
      { entityId, type, exceptHash }: { entityId: string; type: string; exceptHash: string },
      otherIds: readonly string[],
    ): Promise<(StatementsOfEnds & { entityId: string })[]> {
      if (otherIds.length === 0) return []
      const of = (end: 'own' | 'theirs') =>
        `${end}.verified_at AS ${end}_verified_at, ${end}.failed_at AS ${end}_failed_at, ${end}.claimed_at AS ${end}_claimed_at`
      const rows = await database.query<Row & { entity_id: string }>(
        `SELECT theirs.entity_id, ${of('own')}, ${of('theirs')} FROM (
           SELECT * FROM identifier_holders WHERE org_id = $1 AND entity_id = $2 AND type = $3 AND identifier_hash <> $4
           ORDER BY identifier_hash LIMIT ${COMPARED_MAX}
         ) AS own
         CROSS JOIN unnest($5::text[]) AS other (id) CROSS JOIN LATERAL (
           SELECT entity_id, ${INSTANTS} FROM identifier_holders
           WHERE org_id = $1 AND identifier_hash = own.identifier_hash AND identifier_holders.entity_id = other.id LIMIT 1
         ) AS theirs`,
        [organizationId, entityId, type, exceptHash, otherIds],
      )
      return rows.map((row) => ({
        entityId: row.entity_id,
        own: statementsOf(row, 'own_'),
        theirs: statementsOf(row, 'theirs_'),
      }))
    },

    /** What two entities have said of one relationship between them: the latest statement of each kind. */
    async statementsBetween(
      organizationId: string,
      { from, to, relationship }: { from: string; to: string; relationship: string },
    ): Promise<StatementsOfEnds> {
      const rows = await database.query<{
        entity_id: string
        status: Statement['status']
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
      const saidBy = (entityId: string) =>
        rows
          .filter(({ entity_id }) => entity_id === entityId)
          .map(({ status, at, share }): Statement => ({ status, at, ...(share !== null && { share }) }))
      return { own: saidBy(from), theirs: saidBy(to) }
    },
  }
}

/** The latest statements of each kind, from the columns that hold their instants. */
function statementsOf(row: Row, prefix = ''): Statement[] {
  const said: [Statement['status'], string][] = [
    ['verified', 'verified_at'],
    ['failed', 'failed_at'],
    ['unverified', 'claimed_at'],
  ]
  return said.flatMap(([status, column]) => {
    const at = row[`${prefix}${column}`] as string | null
    return at === null ? [] : [{ status, at }]
  })
}

/** Notes who has which identifier with the statement that says so; of each kind of statement the latest is kept. */
export function noteHolders(links: readonly RowOf<'identity_links'>[], params: Params): string {
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
  const latest = (status: Statement['status']) => `max(at) FILTER (WHERE status = '${status}')`
  return `INSERT INTO identifier_holders AS known (org_id, identifier_hash, entity_id, type, ${INSTANTS}, first_at, is_adverse)
    SELECT org_id, hash, entity_id, type, ${latest('verified')}, ${latest('failed')}, ${latest('unverified')}, min(at),
      EXISTS (SELECT 1 FROM graph_track_records AS own WHERE own.org_id = given.org_id AND own.entity_id = given.entity_id AND own.is_adverse)
    FROM unnest(${given.join(', ')}) AS given (org_id, hash, entity_id, type, status, at)
    GROUP BY org_id, hash, entity_id, type ORDER BY org_id, hash, entity_id
    ON CONFLICT (org_id, identifier_hash, entity_id) DO UPDATE SET
      verified_at = greatest(known.verified_at, excluded.verified_at), failed_at = greatest(known.failed_at, excluded.failed_at),
      claimed_at = greatest(known.claimed_at, excluded.claimed_at), first_at = least(known.first_at, excluded.first_at),
      is_adverse = excluded.is_adverse`
}
