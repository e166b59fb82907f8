import type { OutputOf } from '../../api/operation-types.ts'

/** An entity as its page shows it. */
export type ShownEntity = OutputOf<'entities.show'>

/** An entity as a list shows it. */
export type ListedEntity = OutputOf<'entities.list'>['entities'][number]

/** The neighbourhood of an entity. */
export type Neighbourhood = OutputOf<'entities.show-neighbourhood'>

/** A node of the picture of a neighbourhood. */
export type GraphNode = Neighbourhood['nodes'][number]

/** A link of the picture of a neighbourhood. */
export type GraphLink = Neighbourhood['links'][number]
