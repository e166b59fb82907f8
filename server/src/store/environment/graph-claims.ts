import type { Assertion } from '../../core/graph/claim.ts'
import { CROWD_MAX } from '../../core/graph/link.ts'
import type { Database, Row } from '../database/database.ts'
import { type Params, type RowOf, unnestAs } from '../schema/tables.ts'

/** An entity that has an identifier, with the latest assertion of each status about that. */
export interface IdentifierHolder {
  entityId: string
  assertions: Assertion[]
}

/** An identifier as a claim: its version, how many entities hold it or have verified it, and one entity's assertions. */
export interface IdentifierClaim {
  version: number
  holders: number
  verifiedHolders: number
  own: Assertion[]
}

/** The assertions of both ends about one claim that links them, seen from one end. */
export interface AssertionsOfEnds {
  own: readonly Assertion[]
  theirs: readonly Assertion[]
}

const INSTANTS = 'verified_at, failed_at, unverified_at'

/** Reads of claims (identifiers and relationships) and of the assertions about them. Each is an index read with a limit. */
export function claimQueries(database: Database) {
  return {
    /**
     * The claim of an identifier as it is before an assertion, and what the entity itself has asserted about it.
     * INVARIANT: read before the other holders, so that a commit fails if another assertion was written in between.
     */
    async identifierClaim(organizationId: string, hash: string, entityId: string): Promise<IdentifierClaim> {
      const [row] = await database.query<Row & Pick<RowOf<'graph_claims'>, 'version' | 'holders' | 'verified_holders'>>(
        `SELECT coalesce(known.version, 0) AS version, coalesce(known.holders, 0) AS holders,
           coalesce(known.verified_holders, 0) AS verified_holders, ${INSTANTS}
         FROM (VALUES ($1::text)) AS asked (org_id)
         LEFT JOIN graph_claims AS known ON known.org_id = asked.org_id AND known.claim = $2
         LEFT JOIN identifier_holders AS own ON own.org_id = asked.org_id AND own.identifier_hash = $2 AND own.entity_id = $3`,
        [organizationId, hash, entityId],
        { keepPlan: true },
      )
      const { version, holders, verified_holders: verifiedHolders } = row!
      return { version, holders, verifiedHolders, own: assertionsOf(row!) }
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
      return [{ org_id: organizationId, claim, version: (known?.version ?? 0) + 1, holders: 0, verified_holders: 0 }]
    },

    /**
     * The other holders of an identifier that it may link: all that count, or of a crowd the ones that have verified it, as
     * far as these are not a crowd themselves. One more than that is read, because the assertion at hand may be what makes a crowd.
     * An entity whose every check failed does not count (`isHolder`), and is linked to none.
     */
    async otherHolders(organizationId: string, hash: string, entityId: string): Promise<IdentifierHolder[]> {
      const first = (filter: string) => `(SELECT entity_id, ${INSTANTS} FROM identifier_holders
        WHERE org_id = $1 AND identifier_hash = $2 AND entity_id <> $3 ${filter} ORDER BY entity_id LIMIT ${CROWD_MAX + 1})`
      const rows = await database.query<Row & { entity_id: string }>(
        `${first('AND (verified_at IS NOT NULL OR unverified_at IS NOT NULL)')} UNION ${first('AND verified_at IS NOT NULL')}`,
        [organizationId, hash, entityId],
      )
      return rows.map((row) => ({ entityId: row.entity_id, assertions: assertionsOf(row) }))
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
function assertionsOf(row: Row): Assertion[] {
  const columns: [Assertion['status'], string][] = [
    ['verified', 'verified_at'],
    ['failed', 'failed_at'],
    ['unverified', 'unverified_at'],
  ]
  return columns.flatMap(([status, column]) => {
    const at = row[column] as string | null
    return at === null ? [] : [{ status, at }]
  })
}

/** `INSERT` of identifier holders, in the SQL statement that writes their assertions; keeps the latest instant of each status. */
export function upsertIdentifierHolders(links: readonly RowOf<'identity_links'>[], params: Params): string {
  const given = links.map((link) => ({
    org_id: link.org_id,
    hash: link.identifier_hash,
    entity_id: link.entity_id,
    is_device: link.identifier_type === 'device',
    status: link.verification_status,
    at: link.verified_at ?? link.created_at,
  }))
  const columns = {
    org_id: 'text',
    hash: 'text',
    entity_id: 'text',
    is_device: 'boolean',
    status: 'text',
    at: 'timestamptz',
  }
  const latest = (status: Assertion['status']) => `max(at) FILTER (WHERE status = '${status}')`
  return `INSERT INTO identifier_holders AS known (org_id, identifier_hash, entity_id, is_device, ${INSTANTS})
    SELECT org_id, hash, entity_id, is_device, ${latest('verified')}, ${latest('failed')}, ${latest('unverified')}
    FROM ${unnestAs('given', given, columns, params)}
    GROUP BY org_id, hash, entity_id, is_device ORDER BY org_id, hash, entity_id
    ON CONFLICT (org_id, identifier_hash, entity_id) DO UPDATE SET
      verified_at = greatest(known.verified_at, excluded.verified_at), failed_at = greatest(known.failed_at, excluded.failed_at),
      unverified_at = greatest(known.unverified_at, excluded.unverified_at)`
}
