import type { OutcomeTally } from '../core/graph/evidence.ts'
import { FAN_OUT, type FollowedLinks, type Link, type LinkType } from '../core/graph/link.ts'
import type { Database, Row } from './database.ts'
import { Params, type RowOf } from './tables.ts'

/** The tallies of an entity's outcomes, with the version that the next change has to follow. */
export interface KnownEvidence {
  tallies: OutcomeTally[]
  isAdverse: boolean
  version: number
}

/** Somebody who has the same identifier. */
export interface IdentifierHolder {
  entityId: string
  verified: boolean
}

/** The order in which links are followed; the indexes of graph_links are in it too. */
const BY_RANK = "(NOT verified), (type = 'payment'), base_ppm DESC, since, neighbour_id, type"

/** Reads of the trust graph, each bounded whatever stands in it. */
export function graphQueries(database: Database) {
  return {
    /** The links of these entities that are followed on a day: the first of all, and the first of those that lead to harm. */
    async followedLinks(
      organizationId: string,
      entityIds: readonly string[],
      today: number,
    ): Promise<Map<string, FollowedLinks>> {
      const list = (
        name: string,
        filter: string,
      ) => `SELECT wanted.entity_id, '${name}' AS list, link.* FROM unnest($2::text[]) AS wanted (entity_id)
        CROSS JOIN LATERAL (
          SELECT neighbour_id, type, verified, base_ppm, since FROM graph_links
          WHERE org_id = $1 AND graph_links.entity_id = wanted.entity_id AND expires > $3 ${filter} ORDER BY ${BY_RANK} LIMIT ${FAN_OUT}
        ) AS link`
      const rows = await database.query<RowOf<'graph_links'> & Row & { list: keyof FollowedLinks }>(
        `${list('ranked', '')} UNION ALL ${list('adverse', 'AND to_adverse')}`,
        [organizationId, entityIds, today],
      )
      const found = new Map(entityIds.map((id) => [id, { ranked: [] as Link[], adverse: [] as Link[] }]))
      for (const row of rows) found.get(row.entity_id)![row.list].push(linkOfRow(row))
      return found
    },

    /** The tallies of those of these entities that have had outcomes. */
    async evidence(organizationId: string, entityIds: readonly string[]): Promise<Map<string, KnownEvidence>> {
      if (entityIds.length === 0) return new Map()
      const rows = await database.query<RowOf<'graph_evidence'> & Row>(
        'SELECT * FROM graph_evidence WHERE org_id = $1 AND entity_id = ANY($2::text[])',
        [organizationId, entityIds],
      )
      return new Map(
        rows.map(({ entity_id, tallies, is_adverse: isAdverse, version }) => [
          entity_id,
          { tallies: JSON.parse(tallies), isAdverse, version },
        ]),
      )
    },

    /**
     * Other entities with the same identifier, by what their latest check of it said: those who verified it first, then the
     * oldest, no more than are followed; and as many of those with bad outcomes, so that no crowd can hide them.
     */
    async identifierHolders(organizationId: string, hash: string, exceptEntityId: string): Promise<IdentifierHolder[]> {
      const rows = await database.query<{ entity_id: string; verified: boolean }>(
        `WITH latest AS (
           SELECT DISTINCT ON (entity_id) entity_id, id, verification_status FROM identity_links
           WHERE org_id = $1 AND identifier_hash = $2 AND entity_id <> $3 ORDER BY entity_id, id DESC
         ), holders AS (
           SELECT entity_id, id, verification_status = 'verified' AS verified FROM latest WHERE verification_status <> 'failed'
         )
         (SELECT entity_id, verified FROM holders ORDER BY verified DESC, id LIMIT ${FAN_OUT})
         UNION
         (SELECT holders.entity_id, holders.verified FROM holders
          JOIN graph_evidence AS evidence ON evidence.org_id = $1 AND evidence.entity_id = holders.entity_id AND evidence.is_adverse
          ORDER BY holders.verified DESC, holders.id LIMIT ${FAN_OUT})`,
        [organizationId, hash, exceptEntityId],
      )
      return rows.map(({ entity_id: entityId, verified }) => ({ entityId, verified }))
    },

    /** What went between an entity and others so far. */
    async paymentFlows(
      organizationId: string,
      entityId: string,
      counterpartyIds: readonly string[],
    ): Promise<RowOf<'payment_flows'>[]> {
      return database.query<RowOf<'payment_flows'> & Row>(
        'SELECT * FROM payment_flows WHERE org_id = $1 AND entity_id = $2 AND counterparty_id = ANY($3::text[])',
        [organizationId, entityId, counterpartyIds],
      )
    },

    /** Which of these entities the organization has. */
    async knownEntities(organizationId: string, entityIds: readonly string[]): Promise<Set<string>> {
      const rows = await database.query<{ id: string }>(
        'SELECT id FROM entities WHERE org_id = $1 AND id = ANY($2::text[])',
        [organizationId, entityIds],
      )
      return new Set(rows.map(({ id }) => id))
    },

    /** Notes on links that lead to an entity whether it has had bad outcomes; on a page of them, by neighbour. Returns that page. */
    async markLinksTo(
      organizationId: string,
      entityId: string,
      { isAdverse, after, limit }: { isAdverse: boolean; after: string; limit: number },
    ): Promise<string[]> {
      const rows = await database.query<{ neighbour_id: string }>(
        `WITH page AS (
           SELECT DISTINCT neighbour_id FROM graph_links WHERE org_id = $1 AND entity_id = $2 AND neighbour_id > $3 ORDER BY neighbour_id LIMIT $4
         ), marked AS (
           UPDATE graph_links SET to_adverse = $5 FROM page
           WHERE graph_links.org_id = $1 AND graph_links.entity_id = page.neighbour_id AND graph_links.neighbour_id = $2 AND to_adverse <> $5
         ) SELECT neighbour_id FROM page ORDER BY neighbour_id`,
        [organizationId, entityId, after, limit, isAdverse],
      )
      return rows.map(({ neighbour_id }) => neighbour_id)
    },

    /** Writes exposures, has the latest decisions of those entities looked at again, and takes the consequences away that led here. */
    async writeExposures(
      rows: readonly { org_id: string; entity_id: string; summary: string; trust: string; as_of: string }[],
      done: readonly RowOf<'consequences'>[],
    ): Promise<void> {
      const params = new Params()
      const column = (name: 'org_id' | 'entity_id' | 'summary' | 'trust' | 'as_of', type: string) =>
        params.add(
          rows.map((row) => row[name]),
          type,
        )
      const values = `unnest(${column('org_id', 'text[]')}, ${column('entity_id', 'text[]')}, ${column('summary', 'text[]')}, ${column('trust', 'text[]')}, ${column('as_of', 'timestamptz[]')})`
      await database.query(
        `WITH written AS (
           INSERT INTO graph_exposures (org_id, entity_id, summary, trust, as_of) SELECT * FROM ${values}
           ON CONFLICT (org_id, entity_id) DO UPDATE SET summary = excluded.summary, trust = excluded.trust, as_of = excluded.as_of
             WHERE graph_exposures.as_of <= excluded.as_of -- whoever read later knows more
           RETURNING org_id, entity_id, summary
         ), due AS (
           INSERT INTO consequences (org_id, kind, entity_id, mark)
           SELECT latest.org_id, 'reevaluation', latest.entity_id, md5(written.summary) FROM written
           JOIN latest_decisions AS latest ON latest.org_id = written.org_id AND latest.entity_id = written.entity_id
           ON CONFLICT (org_id, kind, entity_id) DO UPDATE SET mark = excluded.mark
         ) ${deleteConsequences(done, params)}`,
        params.values,
      )
    },

    /** Consequences that wait, a page of one kind. */
    async consequences(kind: string, limit: number): Promise<RowOf<'consequences'>[]> {
      return database.query<RowOf<'consequences'> & Row>(
        'SELECT * FROM consequences WHERE kind = $1 ORDER BY mark LIMIT $2',
        [kind, limit],
      )
    },

    /** Adds consequences, and takes others away that are done. */
    async exchangeConsequences(
      added: readonly RowOf<'consequences'>[],
      done: readonly RowOf<'consequences'>[],
    ): Promise<void> {
      const params = new Params()
      const column = (name: keyof RowOf<'consequences'>) =>
        params.add(
          added.map((row) => row[name]),
          'text[]',
        )
      await database.query(
        `WITH added AS (
           INSERT INTO consequences (org_id, kind, entity_id, mark) SELECT * FROM unnest(${column('org_id')}, ${column('kind')}, ${column('entity_id')}, ${column('mark')})
           ON CONFLICT (org_id, kind, entity_id) DO UPDATE SET mark = excluded.mark
         ) ${deleteConsequences(done, params)}`,
        params.values,
      )
    },

    /** Puts a consequence back that is not done yet, unless a new cause for it came meanwhile. */
    async continueConsequence({ org_id, kind, entity_id, mark }: RowOf<'consequences'>): Promise<void> {
      await database.query(
        'INSERT INTO consequences (org_id, kind, entity_id, mark) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
        [org_id, kind, entity_id, mark],
      )
    },

    /** Entities whose exposure was computed before a moment, oldest first. */
    async agedExposures(before: string, limit: number): Promise<Pick<RowOf<'consequences'>, 'org_id' | 'entity_id'>[]> {
      return database.query<Pick<RowOf<'consequences'>, 'org_id' | 'entity_id'> & Row>(
        'SELECT org_id, entity_id FROM graph_exposures WHERE as_of < $1 ORDER BY as_of LIMIT $2',
        [before, limit],
      )
    },
  }
}

/** Only those whose mark is still the same: a cause that came meanwhile has to be followed too. */
function deleteConsequences(done: readonly RowOf<'consequences'>[], params: Params): string {
  const column = (name: keyof RowOf<'consequences'>) =>
    params.add(
      done.map((row) => row[name]),
      'text[]',
    )
  return `DELETE FROM consequences USING unnest(${column('org_id')}, ${column('kind')}, ${column('entity_id')}, ${column('mark')}) AS done (org_id, kind, entity_id, mark)
    WHERE consequences.org_id = done.org_id AND consequences.kind = done.kind AND consequences.entity_id = done.entity_id AND consequences.mark = done.mark`
}

function linkOfRow({ neighbour_id, type, verified, base_ppm, since }: RowOf<'graph_links'>): Link {
  return { neighbour: neighbour_id, type: type as LinkType, verified, basePpm: base_ppm, since }
}
