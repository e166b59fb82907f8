import { LRUCache } from 'lru-cache'
import { sha256 } from '../core/canonical-json.ts'
import { deriveFacts } from '../core/facts/derive-facts.ts'
import type { EntityState } from '../core/facts/entity-state.ts'
import type { Facts } from '../core/facts/facts.ts'
import type { OpenOffer } from '../core/facts/open-offers.ts'
import type { RequestTimes } from '../core/facts/velocity-facts.ts'
import { CROWD_MAX } from '../core/graph/link.ts'
import { timeOfId } from '../ids/new-id.ts'
import type { EntityRow, EntityToDecide } from '../store/environment/entities.ts'

/** What was asked for. */
export interface DecisionRequest {
  product: string
  requested_amount?: number
  currency?: string
  term_months?: number
}

/** An entity as a decision reads it: with those that it is merged with, as if all their facts were about one. */
export interface EntityReading {
  entity: EntityRow
  /** The merged entities, itself among them, sorted by id; only itself if it is not merged. */
  members: readonly EntityToDecide[]
  state: EntityState
  /** The open offers of all members; expired ones may be among them. */
  offers: readonly OpenOffer[]
}

/**
 * Derives the facts of one decision from the state of an entity as it is read, its exposure in the graph, and the request. To make
 * a decision again, `madeAs` is its id: how often the entity had asked is counted from then.
 */
export function factsOf(
  { members, ...reading }: EntityReading,
  { product, requested_amount, currency, term_months }: DecisionRequest,
  { now, state = reading.state, madeAs }: { now: string; state?: EntityState; madeAs?: string },
): Facts {
  const first = members[0]!
  const facts = deriveFacts({
    state,
    offers: reading.offers,
    entity: {
      // Merged entities are one to the policy too, whichever of them is named.
      id: first.id,
      type: firstOf(members, 'type'),
      country: firstOf(members, 'country'),
      ...deviceHoldersOf(members),
    },
    request: {
      product,
      times: requestTimes(members, { now, madeAs }),
      ...(requested_amount !== undefined && { requestedAmount: requested_amount }),
      ...(currency !== undefined && { currency }),
      ...(term_months !== undefined && { termMonths: term_months }),
    },
    now,
  })
  return members.length === 1 ? facts : { ...facts, merged: members.map(({ id }) => id) }
}

/** When the entity asked, and when it had before: its decisions were made then, and ids have the time in them. */
function requestTimes(
  members: readonly EntityToDecide[],
  { now, madeAs }: { now: string; madeAs: string | undefined },
): RequestTimes {
  const ids = members.flatMap(({ newest_decisions }) => wordsOf(newest_decisions))
  const before = madeAs === undefined ? ids : ids.filter((id) => id < madeAs)
  return { at: madeAs === undefined ? now : instantOf(madeAs), earlier: before.map(instantOf) }
}

function instantOf(id: string): string {
  return new Date(timeOfId(id)).toISOString()
}

/** The most entities that have one of the devices. Merged entities are one, whatever devices they both have. */
function deviceHoldersOf(members: readonly EntityToDecide[]): { deviceHolders?: number } {
  const counts = new Map<string, number>()
  for (const { devices } of members) {
    for (const device of wordsOf(devices)) {
      const [hash, holders] = device.split(':') as [string, string]
      counts.set(hash, (counts.get(hash) ?? Number(holders) + 1) - 1)
    }
  }
  if (counts.size === 0) return {}
  return { deviceHolders: Math.min(CROWD_MAX + 1, Math.max(...counts.values())) }
}

function wordsOf(text: string): string[] {
  return text === '' ? [] : text.split(' ')
}

function firstOf(members: readonly EntityRow[], field: 'type' | 'country'): string | null {
  return members.map((member) => member[field]).find((value) => value !== null) ?? null
}

/**
 * What a decision is made on: the entity and those that it is merged with, each with its version and a hash of its exposure.
 * While these are unchanged there is nothing to re-evaluate; the store compares them (`queueOvertaken`).
 */
export function madeOn(members: readonly Pick<EntityRow, 'id' | 'version' | 'graph'>[]): string {
  return members
    .map(({ id, version, graph }) => `${id}:${version}:${graph === null ? '-' : sha256(graph).slice(0, 16)}`)
    .join(' ')
}

/** Bounds the cached texts; the objects parsed from them take about four times as much. */
const STATES_CHARACTERS_MAX = 16 * 1024 * 1024

/** Parsed states by their text: the store returns the same text until the entity changes. */
const parsedStates = new LRUCache<string, EntityState>({
  maxSize: STATES_CHARACTERS_MAX,
  sizeCalculation: (_state, text) => text.length,
})

/** Parses the state of an entity, and adds its exposure in the trust graph. */
export function stateOf({ state, graph }: Pick<EntityRow, 'state' | 'graph'>): EntityState {
  const parsed = parseState(state)
  return graph === null ? parsed : { ...parsed, graph: JSON.parse(graph) as EntityState['graph'] }
}

function parseState(text: string): EntityState {
  const cached = parsedStates.get(text)
  if (cached) return cached
  const state = deepFreeze(JSON.parse(text) as EntityState)
  parsedStates.set(text, state)
  return state
}

/**
 * Decisions share one cached state, so an attempt to modify it must throw. The packed days of a cashflow, arrays in an array,
 * are readonly by type alone: V8 compiles reads of a frozen array to calls, with which facts take a quarter longer.
 */
function deepFreeze<T extends object>(value: T): T {
  for (const name in value) {
    const inner = value[name]
    if (typeof inner !== 'object' || inner === null) continue
    if (!Array.isArray(value) || !Array.isArray(inner)) deepFreeze(inner)
  }
  return Object.freeze(value)
}
