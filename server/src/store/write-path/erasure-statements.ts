import { insertRows, type Params, unnestAs } from '../schema/tables.ts'
import type { EndedErasure, NewErasure, OfOrganization } from './change.ts'

/**
 * Names and external ids that are shorter are not looked for in scenarios: too many other texts hold them. The id of the entity
 * is always looked for.
 */
const NAME_CHARACTERS_MIN = 5

/**
 * `DELETE` of entities whose erasure was approved: from here on they are unknown, and their external ids are free. A case that was
 * opened since the approval read the entity keeps it: a decision that waits for a person does not change the entity.
 */
export function deleteErasedEntities(erasures: readonly (NewErasure & OfOrganization)[], params: Params): string {
  const columns = { org_id: 'text', entity_id: 'text', version: 'bigint' }
  return `DELETE FROM entities USING ${unnestAs('erased', erasures, columns, params)}
    WHERE entities.org_id = erased.org_id AND entities.id = erased.entity_id AND entities.version = erased.version
      AND NOT EXISTS (SELECT FROM cases WHERE cases.org_id = entities.org_id AND cases.entity_id = entities.id AND cases.review_id IS NULL)
    RETURNING 1`
}

/**
 * `DELETE` of the scenarios of the playground that name an entity which the same statement deletes, or one of its decisions: in the
 * statement all steps see the entity as it was before.
 */
export function deleteScenariosAbout(erasures: readonly (NewErasure & OfOrganization)[], params: Params): string {
  const mentions = (text: string) =>
    `(length(${text}) >= ${NAME_CHARACTERS_MIN} AND strpos(lower(scenario.name || ' ' || scenario.request), lower(${text})) > 0)`
  return `DELETE FROM playground_scenarios AS scenario
    USING ${unnestAs('erased', erasures, { org_id: 'text', entity_id: 'text' }, params)}
    JOIN entities AS entity ON entity.org_id = erased.org_id AND entity.id = erased.entity_id
    WHERE scenario.org_id = entity.org_id
      AND (${['entity.id', 'entity.external_id', "coalesce(entity.display_name, '')"].map(mentions).join(' OR ')}
        OR scenario.request::json ->> 'entity_id' = entity.external_id
        OR ${isAboutDecisionOf('scenario', { organization: 'entity.org_id', entity: 'entity.id' })})`
}

/** SQL: whether a scenario begins with a decision about an entity. */
export function isAboutDecisionOf(scenario: string, about: { organization: string; entity: string }): string {
  return `EXISTS (SELECT FROM decisions AS named WHERE named.org_id = ${about.organization}
    AND named.id = ${scenario}.request::json ->> 'decision_id' AND named.entity_id = ${about.entity})`
}

/** `INSERT` of approved erasures. */
export function addErasures(erasures: readonly (NewErasure & OfOrganization)[], params: Params): string {
  const rows = erasures.map(({ version: _, ...erasure }) => ({ ...erasure, done_at: null, decisions_done_at: null }))
  return `${insertRows('erasures', rows, params)} ON CONFLICT DO NOTHING RETURNING 1`
}

/** Notes how far erasures were carried out. */
export function endErasures(erasures: readonly (EndedErasure & OfOrganization)[], params: Params): string {
  const columns = { org_id: 'text', entity_id: 'text', done_at: 'timestamptz', decisions_done_at: 'timestamptz' }
  const next = (column: string) => `${column} = coalesce(erasures.${column}, ended.${column})`
  return `UPDATE erasures SET ${next('done_at')}, ${next('decisions_done_at')}
    FROM ${unnestAs('ended', erasures, columns, params)}
    WHERE erasures.org_id = ended.org_id AND erasures.entity_id = ended.entity_id
      AND ((ended.done_at IS NOT NULL AND erasures.done_at IS NULL)
        OR (ended.decisions_done_at IS NOT NULL AND erasures.decisions_done_at IS NULL)) RETURNING 1`
}
