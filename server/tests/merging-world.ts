/** An organization whose entities are linked, merged and told apart, and what its trust graph makes of them. */
import assert from 'node:assert/strict'
import { addOperator } from '../src/admin/manage-operators.ts'
import { mergeEntities, separateEntity } from '../src/admin/merge-entities.ts'
import { byOperator, byService } from './acts.ts'
import { newConsequenceWorker } from './consequence-worker.ts'
import type { TestService } from './test-service.ts'

/** The instant of everything that happens in such an organization. */
export const NOW = '2026-11-15T09:00:00.000Z'

/** Opens a new organization with the two operators that a merge takes. */
export async function openMergingWorld(api: TestService) {
  const { installation } = api.service
  const organization = await api.newOrganization()
  const database = installation.storage.environments.sandbox
  const worker = newConsequenceWorker(installation)
  const add = async (name: string) => {
    const email = `${name}@example.com`
    const operator = await addOperator(installation, byService(organization.id), { email, name, role: 'admin' })
    return byOperator(operator, { reason: 'Compared their papers.' })
  }
  const operators = [await add('ada'), await add('grace')]
  let count = 0

  async function post(path: string, body: object) {
    const answer = await organization.post(path, body, { 'Idempotency-Key': `${organization.id}-${count++}` })
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }

  return {
    organizationId: organization.id,
    post,
    drain: () => worker.drain(),
    newEntity: async (): Promise<string> => (await post('/v1/entities', { external_id: `entity-${count++}` })).id,

    async merge(entity: string, other: string): Promise<void> {
      for (const operator of operators) await mergeEntities(installation, operator, { entity, other })
    },

    async separate(entity: string): Promise<void> {
      for (const operator of operators) await separateEntity(installation, operator, entity)
    },

    identify: (id: string, type: string, value: string, status = 'verified'): Promise<unknown> =>
      post(`/v1/entities/${id}/identity-links`, { identifier: { type, value }, verification: { status } }),

    relate: (id: string, to: string, relationship: string, status = 'verified'): Promise<unknown> =>
      post(`/v1/entities/${id}/identity-links`, { related_entity_id: to, relationship, verification: { status } }),

    async report(id: string, type: string): Promise<void> {
      const decision = await post('/v1/underwrite', { entity_id: id, product: 'marketplace_access' })
      await post(`/v1/decisions/${decision.id}/outcomes`, { type, occurred_at: NOW })
    },

    /** Which links of an entity to another are marked as leading to bad outcomes. */
    async marksOf(from: string, to: string): Promise<boolean[]> {
      const rows = await database.query<{ to_adverse: boolean }>(
        'SELECT to_adverse FROM graph_links WHERE org_id = $1 AND entity_id = $2 AND neighbour_id = $3',
        [organization.id, from, to],
      )
      return rows.map(({ to_adverse }) => to_adverse)
    },

    /** The stored exposure of an entity. */
    async exposureOf(id: string): Promise<{ negativeExposure: number; evidenceCount: number; paths: unknown[] }> {
      const [row] = await database.query<{ summary: string }>(
        'SELECT summary FROM graph_exposures WHERE org_id = $1 AND entity_id = $2',
        [organization.id, id],
      )
      return row ? JSON.parse(row.summary) : { negativeExposure: 0, evidenceCount: 0, paths: [] }
    },
  }
}

/** Such an organization. */
export type MergingWorld = Awaited<ReturnType<typeof openMergingWorld>>
