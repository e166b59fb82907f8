/** An organization whose entities are linked, merged and told apart, and what its trust graph makes of them. */
import assert from 'node:assert/strict'
import { addOperator } from '../src/admin/manage-operators.ts'
import { mergeEntities, separateEntity } from '../src/admin/merge-entities.ts'
import type { ExposureSummary } from '../src/core/graph/describe-trust.ts'
import { byOperator, byService } from './acts.ts'
import { newConsequenceWorker } from './consequence-worker.ts'
import type { TestService } from './test-service.ts'

/** The instant of everything that happens in such an organization. */
export const NOW = '2026-11-15T09:00:00.000Z'

/** What is stored about an entity in the trust graph. */
export type Standing = Omit<ExposureSummary, 'asOf'> & { score: number }

const NOTHING_KNOWN: Omit<Standing, 'score'> = {
  negativeExposure: 0,
  negativeExposureWithoutPayments: 0,
  positiveSupport: 0,
  evidenceCount: 0,
  paths: [],
}

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
    /** Does all follow-up work. A worker that holds no lease makes one pass at a time. */
    async drain(): Promise<void> {
      while (await installation.stores.sandbox.consequences.isAny()) await worker.drain()
    },
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

    pay(id: string, to: string): Promise<unknown> {
      const payment = { external_id: `payment-${count++}`, occurred_at: NOW, amount: 500, currency: 'EUR' }
      const transactions = [{ ...payment, direction: 'debit', counterparty: { entity_id: to } }]
      return post(`/v1/entities/${id}/transactions`, { transactions })
    },

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

    /** The stored exposure and trust of an entity, without their times; as of one that nothing is known about if there is none. */
    async standingOf(id: string): Promise<Standing> {
      const [row] = await database.query<{ summary: string; trust: string }>(
        'SELECT summary, trust FROM graph_exposures WHERE org_id = $1 AND entity_id = $2',
        [organization.id, id],
      )
      if (!row) return { ...NOTHING_KNOWN, score: 0.5 }
      const { asOf: _, ...summary } = { ...NOTHING_KNOWN, ...JSON.parse(row.summary) }
      return { ...summary, score: JSON.parse(row.trust).score }
    },
  }
}

/** Such an organization. */
export type MergingWorld = Awaited<ReturnType<typeof openMergingWorld>>
