import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from './test-service.ts'

const api = await startTestService({
  env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '3' },
})

test('an organization over its rate limit gets 429 with Retry-After, and other organizations are not limited', async () => {
  const [busy, calm] = [await api.newOrganization(), await api.newOrganization()]
  const answers = await Promise.all(Array.from({ length: 30 }, () => busy.get('/v1/usage')))
  const refused = answers.filter(({ status }) => status === 429)
  assert.ok(answers.length - refused.length >= 3, 'the burst passes')
  assert.ok(refused.length > 0, 'what exceeds it does not')
  for (const { body, headers } of refused) {
    assert.equal(body.error.code, 'rate_limited')
    assert.equal(headers.get('retry-after'), '1')
    assert.match(headers.get('ratelimit')!, /^"default";r=0;t=[23]$/)
  }
  assert.equal((await calm.get('/v1/usage')).status, 200)
})
