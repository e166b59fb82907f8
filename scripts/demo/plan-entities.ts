import type { IdentifierType, Relationship, VerificationStatus } from '../../server/src/core/vocabularies.ts'
import { COUNTRIES, type Country } from './names.ts'
import { PERSONAS, type Persona } from './personas.ts'
import { type Random, randomOf } from './random.ts'

/** An entity of the sample before it is created. */
export interface PlannedEntity {
  index: number
  persona: Persona
  country: Country
  externalId: string
  displayName: string
  /** How large its amounts are, compared with those of its persona. */
  scale: number
  identifiers: { type: IdentifierType; value: string; status: VerificationStatus }[]
  /** Relationships to entities before it in the plan. */
  related: { to: PlannedEntity; relationship: Relationship; share?: number }[]
  /** Entities that are linked, directly or by others, share a group: their requests are sent one after another. */
  group: number
  /** A member of a ring that shares a device; the first of them turns out to be a fraud. */
  ring?: 'first' | 'other'
}

const RING_EVERY = 55
const RING_SIZE = 3
const HOUSEHOLD_SHARE = 0.12
const OWNER_SHARE = 0.45

/** Plans the entities of a seed: who they are, what identifies them, and how they are linked. */
export function planEntities(seed: number, count: number): PlannedEntity[] {
  const entities: PlannedEntity[] = []
  for (let index = 0; index < count; index++) {
    const random = randomOf('entity', seed, index)
    const inRing = count >= RING_EVERY ? index % RING_EVERY : index % count
    const ring = inRing >= 8 && inRing < 8 + RING_SIZE ? (inRing === 8 ? 'first' : 'other') : undefined
    const entity = planEntity({ seed, index, random, ...(ring && { ring }) })
    if (ring === 'other') shareDevice(entity, entities[index - 1]!)
    else if (!ring) relate(entity, entities, random)
    entities.push(entity)
  }
  return entities
}

function planEntity({
  seed,
  index,
  random,
  ring,
}: {
  seed: number
  index: number
  random: Random
  ring?: 'first' | 'other'
}): PlannedEntity {
  const persona = ring ? PERSONAS.find(({ id }) => id === 'seller')! : random.weighted(PERSONAS, ({ weight }) => weight)
  const country = random.weighted(COUNTRIES, ({ weight }) => weight)
  const externalId = `sample-${seed}-${String(index + 1).padStart(4, '0')}`
  return {
    index,
    persona,
    country,
    externalId,
    displayName: nameOf(persona.type, country, random),
    scale: 0.7 + random.next() * 0.75,
    identifiers: persona.identifiers.map(([type, status]) => ({ type, status, value: identifier(type, externalId) })),
    related: [],
    group: index,
    ...(ring && { ring }),
  }
}

function nameOf(type: Persona['type'], country: Country, random: Random): string {
  const family = random.pick(country.family)
  if (type === 'person') return `${random.pick(country.given)} ${family}`
  return random.pick(type === 'business' ? country.businesses : country.institutions).replace('*', family)
}

/** An identifier that is unique to the entity, and that no real person or company can have. */
function identifier(type: IdentifierType, externalId: string): string {
  if (type === 'email') return `${externalId}@example.com`
  if (type === 'phone') return `+999 000 ${externalId.replace(/\D/g, '')}`
  return `SAMPLE-${type}-${externalId}`
}

function shareDevice(entity: PlannedEntity, before: PlannedEntity): void {
  const device = before.identifiers.find(({ type }) => type === 'device')!
  const own = entity.identifiers.filter(({ type }) => type !== 'device')
  entity.identifiers = [...own, { ...device }, sharedAccount(before)]
  if (!before.identifiers.some(({ type }) => type === 'bank_account')) before.identifiers.push(sharedAccount(before))
  entity.country = before.country
  entity.group = before.group
}

function sharedAccount({ identifiers, group }: PlannedEntity): PlannedEntity['identifiers'][number] {
  const known = identifiers.find(({ type }) => type === 'bank_account')
  return known ? { ...known } : { type: 'bank_account', value: `SAMPLE-ring-${group}`, status: 'verified' }
}

/** Gives some businesses an owner and some people a household, from among the entities before. */
function relate(entity: PlannedEntity, before: readonly PlannedEntity[], random: Random): void {
  const isBusiness = entity.persona.type === 'business'
  if (!random.chance(isBusiness ? OWNER_SHARE : entity.persona.type === 'person' ? HOUSEHOLD_SHARE : 0)) return
  const other = before
    .slice(-12)
    .findLast(({ persona, country, ring }) => persona.type === 'person' && country === entity.country && !ring)
  if (!other) return
  entity.group = other.group
  if (isBusiness) {
    entity.related.push({ to: other, relationship: 'owner', share: random.pick([1, 1, 0.6, 0.5]) })
    if (random.chance(0.3)) entity.related.push({ to: other, relationship: 'guarantor' })
  } else {
    entity.related.push({ to: other, relationship: 'household' })
    const address = `SAMPLE-address-${other.externalId}`
    entity.identifiers.push({ type: 'address', value: address, status: 'unverified' })
    if (!other.identifiers.some(({ type }) => type === 'address'))
      other.identifiers.push({ type: 'address', value: address, status: 'unverified' })
  }
}
