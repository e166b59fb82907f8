import { describeMerges, mergeEntities, separateEntity } from '../../admin/merge-entities.ts'
import { isSamePerson } from '../../admin/permissions.ts'
import { notFound } from '../../admin/problem.ts'
import { NOT_BLANK, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { listOperators } from '../../store/control/operators.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import { defineOperation } from '../define-operation.ts'
import { entityName } from '../entities/entity-name.ts'

const entity_id = Type.String({ minLength: 1, maxLength: 40 })
const reason = Type.String({ minLength: 1, maxLength: 2_000, pattern: NOT_BLANK })

/** How many identifiers of an entity are looked up, how many of the holders of each, and how many possible duplicates are shown. */
const IDENTIFIERS_SOUGHT = 10
const HOLDERS_READ_MAX = 24
const CANDIDATES_MAX = 5

/** Shows which entities an entity is merged with, what waits for a second operator, and what may be its duplicates. */
const showMerges = defineOperation({
  summary: 'Show which entities an entity is merged with, what was proposed, and what may be its duplicates',
  access: 'see the console',
  input: Strict({ entity_id }),
  audit: [],
  async handle({ input, installation, act, store, organizationId, operator }) {
    const entity = await store.entities.find({ organizationId, id: input.entity_id })
    if (!entity) throw notFound('entity_not_found', 'There is no such entity in this environment.')
    const [{ members, proposals }, holders, operators] = await Promise.all([
      describeMerges(installation, act, entity),
      holdersOfSame(store, organizationId, entity.id),
      listOperators(installation.storage.control, organizationId),
    ])
    const candidates = holders.filter((id) => !members.includes(id))
    const ids = [
      ...new Set([...members, ...candidates, ...proposals.flatMap((one) => [one.entity_id, ...one.members])]),
    ]
    const names = await store.entities.names(organizationId, ids)
    const named = (id: string) => ({
      id,
      name: entityName(names.get(id), id),
      external_id: names.get(id)?.external_id ?? null,
    })
    const operatorOf = new Map(operators.map((one) => [one.id, one]))
    return {
      entity_id: entity.id,
      others: members.filter((id) => id !== entity.id).map(named),
      candidates: candidates
        .filter((id) => names.get(id)?.type === entity.type)
        .slice(0, CANDIDATES_MAX)
        .map(named),
      proposals: proposals.map(
        ({ effect, entity_id: subject, members: after, reason: why, proposed_by, proposed_at }) => ({
          effect,
          subject: named(subject),
          members: after.map(named),
          reason: why,
          proposed_by: operatorOf.get(proposed_by)?.name ?? proposed_by,
          is_own: operatorOf.has(proposed_by) && isSamePerson(operatorOf.get(proposed_by)!, operator),
          proposed_at,
        }),
      ),
    }
  },
})

/** Proposes to merge two entities, or confirms it as the second operator. */
const merge = defineOperation({
  summary: 'Merge two entities, or confirm that another operator proposed it',
  access: mergeEntities.permission,
  input: Strict({ entity_id, other: Type.String({ minLength: 1, maxLength: 255, pattern: NOT_BLANK }), reason }),
  audit: ['entity.merge_proposed', 'entity.merged'],
  handle: ({ installation, act, input }) =>
    mergeEntities(installation, act, { entity: input.entity_id, other: input.other.trim() }),
})

/** Proposes to tell an entity apart from those that it is merged with, or confirms it as the second operator. */
const separate = defineOperation({
  summary: 'Tell a merged entity apart, or confirm that another operator proposed it',
  access: separateEntity.permission,
  input: Strict({ entity_id, reason }),
  audit: ['entity.separation_proposed', 'entity.separated'],
  handle: ({ installation, act, input }) => separateEntity(installation, act, input.entity_id),
})

/** The entities that have an identifier of this one, by its newest identifiers; it is not among them. */
async function holdersOfSame(store: EnvironmentStore, organizationId: string, entityId: string): Promise<string[]> {
  const links = await store.entities.identityLinks(organizationId, entityId)
  const hashes = [...new Set(links.flatMap(({ identifier_hash }) => identifier_hash ?? []))].slice(
    0,
    IDENTIFIERS_SOUGHT,
  )
  const holders = await Promise.all(
    hashes.map((hash) => store.entities.holdersOf(organizationId, hash, HOLDERS_READ_MAX)),
  )
  return [...new Set(holders.flat())].filter((id) => id !== entityId)
}

/** The operations `entity-merges.<verb>`. */
export const entityMerges = { show: showMerges, merge, separate }
