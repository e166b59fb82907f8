import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeReviewBounds } from '../src/admin/change-review-bounds.ts'
import { addOperator } from '../src/admin/manage-operators.ts'
import { byOperator, byService } from './acts.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const { installation } = api.service
const { production } = installation.storage.environments

test('bounds of reviewers that were widened with SQL do not count: the log has those that an operator set', async () => {
  const { id: organizationId } = await api.newOrganization()
  const wanted = { email: 'b@example.com', name: 'B', role: 'owner' }
  const operator = await addOperator(installation, byService(organizationId), wanted)
  const set = { ask_above_percent: 10, refuse_above_times: 2, ask_below_percent: 20 }
  const act = byOperator(operator, { reason: 'Our reviewers round up.' })
  assert.deepEqual(await changeReviewBounds(installation, act, set), set)
  const widened = await production.query(
    `INSERT INTO audit_entries (org_id, id, trail_id, seq, type, occurred_at, actor_type, actor_id, request_id, subject_type,
       subject_id, data, mac, flush, place)
     SELECT org_id, 'aud_forged', trail_id, seq + 1, type, occurred_at, actor_type, actor_id, request_id, subject_type,
       subject_id, replace(data, '"refuse_above_times":2', '"refuse_above_times":1000'), mac, flush, place + 1
     FROM audit_entries WHERE org_id = $1 AND type = 'review_bounds.changed' RETURNING data`,
    [organizationId],
  )
  assert.match(String(widened[0]!.data), /1000/)
  assert.deepEqual(await installation.stores.production.reviews.bounds(organizationId), set)
})
