import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { sandboxPolicySource } from '../../../tests/sandbox-policy.ts'
import { policyJsonSchema } from './policy-document.ts'

const published = JSON.parse(readFileSync(new URL('../../../../policies/policy.schema.json', import.meta.url), 'utf8'))

it('the published JSON Schema is the schema that the engine validates with (npm run goldens)', () => {
  assert.deepEqual(published, policyJsonSchema())
})

it('the sandbox policy is valid to any JSON Schema validator', () => {
  const validate = new Ajv2020({ allErrors: true }).compile(published)
  assert.ok(validate(parse(sandboxPolicySource())), JSON.stringify(validate.errors))
})
