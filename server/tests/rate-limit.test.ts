import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from './test-service.ts'

const api = await startTestService({
  env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '3' },
  nowMs: () => 1_800_000_000_000,
})

test('an organization over its rate limit gets 429 with Retry-After, and other organizations are not limited', async () => {
  const [busy, calm] = [await api.newOrganization(), await api.newOrganization()]
  const statuses = []
  for (let n = 0; n < 4; n++) statuses.push((await busy.get('/v1/usage')).status)
  assert.deepEqual(statuses, [200, 200, 200, 429])
  const refused = await busy.get('/v1/usage')
  assert.equal(refused.body.error.code, 'rate_limited')
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal(refused.headers.get('ratelimit'), '"default";r=0;t=3')
  assert.equal((await calm.get('/v1/usage')).status, 200)
})
