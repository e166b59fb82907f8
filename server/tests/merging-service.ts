/** A service with organizations whose operators merge entities, for tests. */
import assert from 'node:assert/strict'
import { addOperator } from '../src/admin/manage-operators.ts'
import { mergeEntities, separateEntity } from '../src/admin/merge-entities.ts'
import { byOperator, byService } from './acts.ts'
import { newConsequenceWorker } from './consequence-worker.ts'
import { startTestService, type TestOrganization } from './test-service.ts'

export type MergingService = Awaited<ReturnType<typeof startMergingService>>
export type MergingTeam = Awaited<ReturnType<MergingService['newTeam']>>

/** Starts a service whose clock stands still. */
export async function startMergingService(now: string) {
  const api = await startTestService({ nowMs: () => Date.parse(now) })
  const { installation } = api.service
  const database = installation.storage.environments.sandbox
  const store = installation.stores.sandbox
  const worker = newConsequenceWorker(installation)

  /** An organization with operators, so that what one test merges does not reach another. */
  async function newTeam() {
    const organization = await api.newOrganization()
    /** As at the command line: a session is not asked for, which audit verify would miss. */
    const typed = (act: ReturnType<typeof byOperator>) => ({ ...act, by: { ...act.by, via: 'alice (uid 1000)' } })
    const add = async (name: string, role: string) =>
      typed(
        byOperator(
          await addOperator(installation, byService(organization.id), { email: `${name}@example.com`, name, role }),
          { reason: `${name} compared their papers.` },
        ),
      )
    const [ada, grace, victor] = [
      await add('ada', 'admin'),
      await add('grace', 'reviewer'),
      await add('victor', 'viewer'),
    ]
    const merge = async (entity: string, other: string) => {
      assert.equal((await mergeEntities(installation, ada, { entity, other })).state, 'proposed')
      const done = await mergeEntities(installation, grace, { entity: other, other: entity })
      assert.equal(done.state, 'done')
      await worker.drain()
      return done.members
    }
    const separate = async (entity: string) => {
      assert.equal((await separateEntity(installation, grace, entity)).state, 'proposed')
      const done = await separateEntity(installation, ada, entity)
      assert.equal(done.state, 'done')
      await worker.drain()
      return done.members
    }
    return { organization, ada, grace, victor, merge, separate, ...callsOf(organization) }
  }

  let count = 0
  function callsOf(organization: TestOrganization) {
    const post = async (path: string, body: object) => {
      const answer = await organization.post(path, body, { 'Idempotency-Key': `merge-${count++}` })
      assert.equal(answer.status, 201, answer.text)
      return answer.body
    }
    return {
      post,
      newEntity: async (fields: object = { type: 'person' }): Promise<string> =>
        (await post('/v1/entities', { external_id: `merge-${count++}`, ...fields })).id,
      identify: (id: string, type: string, value: string) =>
        post(`/v1/entities/${id}/identity-links`, {
          identifier: { type, value },
          verification: { status: 'verified' },
        }),
      ingest: (id: string, transactions: object[]) => post(`/v1/entities/${id}/transactions`, { transactions }),
      /** Always the same request, so that the offer of one is no exposure of the next. */
      decide: async (id: string): Promise<string> => {
        const request = { product: 'default', requested_amount: 1_000, currency: 'EUR', reference: 'the-same' }
        return (await post('/v1/underwrite', { entity_id: id, ...request })).id
      },
      report: (decisionId: string, type: string, more: object = {}) =>
        post(`/v1/decisions/${decisionId}/outcomes`, { type, occurred_at: now, ...more }),
    }
  }

  /** What a decision recorded, to the byte. */
  async function documentsOf({ organization }: { organization: TestOrganization }, decisionId: string) {
    const { facts, trace, graph } = (await store.decisions.recorded(organization.id, decisionId))!
    return { facts: facts!, trace: trace!, graph: graph! }
  }

  /** The facts of a new decision. */
  async function factsNow(
    team: { organization: TestOrganization; decide: (id: string) => Promise<string> },
    entityId: string,
  ): Promise<{ merged?: string[]; features: Record<string, { value?: unknown }> }> {
    return JSON.parse((await documentsOf(team, await team.decide(entityId))).facts)
  }

  return { api, installation, database, store, worker, newTeam, callsOf, documentsOf, factsNow }
}
