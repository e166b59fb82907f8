/** Records a persona with everything that is known about it, and decides about it. */
import assert from 'node:assert/strict'
import { type Persona, personas } from './personas.ts'
import type { TestOrganization } from './test-service.ts'

/** A decision about a persona. */
export interface PersonaDecision {
  id: string
  verdict: string
  entity_id: string
  recommended_limit?: number
}

/**
 * Sends the facts of a persona, and of its associate, through the API; returns the decision with the id of the entity. With
 * `as`, it is another entity than the persona, with identifiers of its own.
 */
export async function recordPersona(
  organization: Pick<TestOrganization, 'post'>,
  name: string,
  { as }: { as?: string } = {},
): Promise<PersonaDecision> {
  const known = personas(new Date().toISOString()).find((each) => each.name === name)
  assert.ok(known, `there is no persona ${name}`)
  const persona = as === undefined ? known : renamed(known, as)
  const post = async (path: string, body: unknown) => {
    const answer = await organization.post(path, body, { 'Idempotency-Key': crypto.randomUUID() })
    assert.ok(answer.status === 200 || answer.status === 201, answer.text)
    return answer.body
  }
  const submit = async ({
    entity,
    identityLinks,
    ...more
  }: Pick<Persona, 'entity' | 'identityLinks'> & Partial<Persona>) => {
    const { id } = await post('/v1/entities', entity)
    for (const link of identityLinks) await post(`/v1/entities/${id}/identity-links`, link)
    for (const consent of more.consents ?? []) await post(`/v1/entities/${id}/consents`, consent)
    const { transactions = [] } = more
    if (transactions.length > 0) await post(`/v1/entities/${id}/transactions`, { transactions })
    for (const snapshot of more.featureSnapshots ?? []) await post(`/v1/entities/${id}/feature-snapshots`, snapshot)
    return id as string
  }
  if (persona.associate) {
    const { underwrite, outcome, ...associate } = persona.associate
    const { id } = await post('/v1/underwrite', { entity_id: await submit(associate), ...underwrite })
    await post(`/v1/decisions/${id}/outcomes`, { ...outcome, occurred_at: new Date().toISOString() })
  }
  const entity_id = await submit(persona)
  return { ...(await post('/v1/underwrite', { entity_id, ...persona.underwrite })), entity_id }
}

function renamed(persona: Persona, name: string): Persona {
  return {
    ...persona,
    entity: { ...persona.entity, external_id: name },
    identityLinks: persona.identityLinks.map(({ identifier, verification }) => ({
      identifier: { ...identifier, value: `${identifier.value}-${name}` },
      verification,
    })),
  }
}
