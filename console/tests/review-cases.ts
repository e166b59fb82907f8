/** Cases for the review queue of a journey, made through the API as an integration makes them. */

import assert from 'node:assert/strict'
import { createKey } from '../../server/src/admin/manage-keys.ts'
import { SCOPES } from '../../server/src/security/scopes.ts'
import { byService } from '../../server/tests/acts.ts'
import type { TestConsole } from './browser.ts'

/** A key of the sandbox, and what opens cases with it. */
export async function caseOpener({ api, organizationId }: TestConsole) {
  const { key } = await createKey(api.service.installation, byService(organizationId), {
    name: 'Journey',
    scopes: SCOPES,
    expiresAt: null,
  })

  async function post(path: string, body: object) {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const answer = await api.request('sandbox', path, { method: 'POST', key, body, headers })
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }

  /** Asks for a loan of an entity without data, which the sandbox policy leaves to a person. */
  async function ask(entityId: string, amount: number): Promise<{ id: string }> {
    const request = { entity_id: entityId, product: 'personal_loan', requested_amount: amount, currency: 'EUR' }
    const decision = await post('/v1/underwrite', request)
    assert.equal(decision.verdict, 'manual_review')
    return decision
  }

  return {
    key,
    ask,
    /** A company with a request that waits. */
    async undecided(name: string, amount: number): Promise<{ id: string; entityId: string }> {
      const company = { external_id: name, type: 'business', display_name: name, country: 'DE' }
      const entity = await post('/v1/entities', company)
      return { ...(await ask(entity.id, amount)), entityId: entity.id }
    },
    /** The reviews of a decision: verdict and limit of each. */
    async reviewsOf(decisionId: string): Promise<[verdict: string, limit: number | undefined][]> {
      const { body } = await api.request('sandbox', `/v1/decisions/${decisionId}/replay`, { key })
      return body.reviews.map((review: { verdict: string; recommended_limit?: number }) => [
        review.verdict,
        review.recommended_limit,
      ])
    },
  }
}
