import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { publishedOpenapi } from '../../scripts/published-openapi.ts'
import { startTestService } from './test-service.ts'

const golden = readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')

test('openapi.json is what the route table generates; npm run fix rewrites it', () => {
  assert.equal(publishedOpenapi(), golden)
})

test('openapi.json has no problem under the recommended rules of Redocly', async () => {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: golden, absoluteRef: 'openapi.json', config })
  assert.deepEqual(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
    [],
  )
})

test('each environment serves openapi.json without a key, with only its own server', async () => {
  const api = await startTestService()
  for (const environment of ['sandbox', 'production'] as const) {
    const { status, body } = await api.request(environment, '/openapi.json')
    assert.equal(status, 200)
    assert.deepEqual(
      body.servers.map(({ description }: { description: string }) => description),
      [environment],
    )
    assert.deepEqual(Object.keys(body.paths), Object.keys(JSON.parse(golden).paths))
  }
})
