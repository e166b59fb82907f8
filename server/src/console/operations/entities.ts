import { notFound, type Problem } from '../../admin/problem.ts'
import { dayOf } from '../../core/graph/decay.ts'
import { idPattern } from '../../core/id-format.ts'
import { OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { IDENTIFIER_TYPES, VERDICTS } from '../../core/vocabularies.ts'
import { hashIdentifier } from '../../security/identifiers.ts'
import type { ListedEntity } from '../../store/environment/entity-pages.ts'
import { defineOperation } from '../define-operation.ts'
import { describeEntityPage } from '../entities/describe-entity-page.ts'
import { describeNeighbourhood } from '../entities/describe-neighbourhood.ts'
import { entityName } from '../entities/entity-name.ts'
import { readTrust } from '../entities/read-trust.ts'
import { sees } from '../projection.ts'

const PAGE_ENTITIES = 25
/** An identifier that more entities have says nothing about any of them. */
const HOLDERS_LISTED = 50
const id = Type.String({ minLength: 1, maxLength: 40 })
const ENTITY_ID = new RegExp(idPattern('ent'))

/** Lists entities, newest first, or those that a text finds: by id, by external id, or by the beginning of the name. */
const listEntities = defineOperation({
  summary: 'List entities, or find them by id, external id or name',
  access: 'see the console',
  input: Strict({
    search: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    cursor: Type.Optional(id),
  }),
  audit: [],
  async handle({ input: { search, cursor }, store, organizationId, operator }) {
    const limit = PAGE_ENTITIES + 1
    if (search === undefined) {
      const found = await store.entities.newest(organizationId, { before: cursor, limit })
      const page = found.slice(0, PAGE_ENTITIES)
      return {
        entities: page.map(describeListed),
        is_more: false,
        next_cursor: found.length > PAGE_ENTITIES ? page.at(-1)!.id : null,
      }
    }
    const text = search.trim()
    const [byId, byExternalId, byName] = await Promise.all([
      ENTITY_ID.test(text) ? store.entities.byId(organizationId, [text]) : [],
      store.entities.listedByExternalId(organizationId, text),
      // What a search finds would tell the name.
      text === '' || !sees(operator, 'names') ? [] : store.entities.byName(organizationId, text, limit),
    ])
    const found = new Map([...byId, ...byExternalId, ...byName].map((entity) => [entity.id, entity]))
    const entities = [...found.values()].slice(0, PAGE_ENTITIES).map(describeListed)
    return { entities, is_more: found.size > PAGE_ENTITIES, next_cursor: null }
  },
})

/** Finds the entities that have an identifier, by the keyed hash that is stored in its place. */
const findEntities = defineOperation({
  summary: 'Find the entities that have an identifier',
  access: 'see identifiers',
  input: Strict({
    type: OneOf(IDENTIFIER_TYPES),
    value: Type.String({ minLength: 1, maxLength: 500 }),
    issuer: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  }),
  audit: [],
  async handle({ input, store, organizationId, environment, installation }) {
    const key = installation.masterKey.deriveLasting(`identifiers ${environment}`)
    const holders = await store.entities.holdersOf(
      organizationId,
      hashIdentifier(key, { organizationId, ...input }),
      HOLDERS_LISTED,
    )
    const entities = holders.length > 0 ? await store.entities.byId(organizationId, holders) : []
    return { entities: entities.map(describeListed), is_more: holders.length === HOLDERS_LISTED }
  },
})

/** Shows one entity: trust, identity, consents, cash flow, features and decisions. */
const showEntity = defineOperation({
  summary: 'Show an entity',
  access: 'see the console',
  input: Strict({ id }),
  audit: [],
  async handle({ input, store, organizationId, now }) {
    const entity = await store.entities.toDecide({ organizationId, id: input.id })
    if (!entity) throw entityNotFound()
    return describeEntityPage(store, entity, { organizationId, now })
  },
})

/** Shows the neighbourhood of an entity in the trust graph. */
const showNeighbourhood = defineOperation({
  summary: 'Show the neighbourhood of an entity in the trust graph',
  access: 'see the console',
  input: Strict({ id, hops: Type.Integer({ minimum: 1, maximum: 2 }) }),
  audit: [],
  async handle({ input, store, organizationId, now }) {
    const entity = await store.entities.find({ organizationId, id: input.id })
    if (!entity) throw entityNotFound()
    const hops = input.hops === 1 ? 1 : 2
    return describeNeighbourhood(store, { organizationId, entityId: entity.id, hops, today: dayOf(now) })
  },
})

function entityNotFound(): Problem {
  return notFound('entity_not_found', 'There is no such entity in this environment.')
}

function describeListed({ trust, latest_verdict, name, ...entity }: ListedEntity) {
  return {
    ...entity,
    name: entityName({ ...entity, name }, entity.id),
    /** Null until it is first computed. */
    trust: trust === null ? null : (readTrust(trust)?.score ?? ('altered' as const)),
    latest_verdict: VERDICTS.find((verdict) => verdict === latest_verdict) ?? null,
  }
}

/** The operations `entities.<verb>`. */
export const entities = {
  list: listEntities,
  find: findEntities,
  show: showEntity,
  'show-neighbourhood': showNeighbourhood,
}
