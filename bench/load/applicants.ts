import { type Persona, personas } from '../../server/tests/personas.ts'
import { postText } from './http-connection.ts'
import type { MeasuredService } from './measured-service.ts'

/** Creates entities to decide about, each with identity links, a consent and a year of transactions. */
export async function createApplicants(service: Pick<MeasuredService, 'post'>, count: number): Promise<string[]> {
  const now = new Date().toISOString()
  const cases = personas(now).filter(({ associate }) => associate === undefined)
  const ids: string[] = []
  const createOne = async (index: number) => {
    const persona = cases[index % cases.length]!
    ids.push(await createApplicant(service, persona, String(index)))
  }
  let next = 0
  const worker = async () => {
    while (next < count) await createOne(next++)
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  return ids
}

/** Creates one entity like a persona, with a name that makes its external id and identifiers unique. */
export async function createApplicant(
  service: Pick<MeasuredService, 'post'>,
  persona: Persona,
  name: string,
): Promise<string> {
  const { id } = await service.post<{ id: string }>('/v1/entities', {
    ...persona.entity,
    external_id: `applicant-${name}`,
  })
  for (const { identifier, verification } of persona.identityLinks) {
    const own = { ...identifier, value: `${identifier.value}-${name}` }
    await service.post(`/v1/entities/${id}/identity-links`, { identifier: own, verification })
  }
  for (const consent of persona.consents) await service.post(`/v1/entities/${id}/consents`, consent)
  if (persona.transactions.length > 0)
    await service.post(`/v1/entities/${id}/transactions`, { transactions: persona.transactions }, `account-${name}`)
  return id
}

/** Returns a function that makes underwriting requests about these entities in turn, each with a new idempotency key. */
export function underwritings(key: string, entityIds: readonly string[], run: string): () => string {
  let sent = 0
  return () => {
    const index = sent++
    return postText({
      path: '/v1/underwrite',
      key,
      idempotencyKey: `${run}-${index}`,
      body: {
        entity_id: entityIds[index % entityIds.length],
        product: 'personal_loan',
        requested_amount: 1000 + (index % 500) * 10,
        currency: 'EUR',
      },
    })
  }
}
