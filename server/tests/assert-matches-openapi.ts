import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

interface Operation {
  operationId: string
  responses: Record<string, { content?: { 'application/json'?: { schema: object } } }>
}
interface Description {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}

// Answers may gain fields in later versions, so openapi.json allows unknown ones. Those of today are all described.
const description = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8'), (_name, value) =>
  value?.properties && !('additionalProperties' in value) ? closed(value) : value,
) as Description
// The service validates its own formats in requests; in answers, their patterns are enough.
const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: { money: true, reference: true, 'iso-4217': true, 'iso-3166-1': true },
})
;(addFormats as unknown as typeof addFormats.default)(ajv)
ajv.addSchema(description, 'openapi.json')
const compiled = new Map<string, ValidateFunction>()

function closed<S extends object>(schema: S): S {
  return { ...schema, additionalProperties: false }
}

/** Fails the test if openapi.json does not allow this status and body for the request. */
export function assertMatchesOpenapi(
  method: string,
  path: string,
  { status, body }: { status: number; body: unknown },
): void {
  const template = Object.keys(description.paths).find((candidate) =>
    new RegExp(`^${candidate.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  )
  const operation = template && description.paths[template]?.[method.toLowerCase()]
  // An unknown path or method has no operation; its error still has the common envelope.
  const pointer = operation
    ? `openapi.json#/paths/${template.replaceAll('~', '~0').replaceAll('/', '~1')}/${method.toLowerCase()}/responses/${status}/content/application~1json/schema`
    : 'openapi.json#/components/schemas/Error'
  if (operation)
    assert.ok(
      operation.responses[status],
      `${operation.operationId} does not describe status ${status}: ${JSON.stringify(body)}`,
    )
  const validate = compiled.get(pointer) ?? ajv.compile({ $ref: encodeURI(pointer) })
  compiled.set(pointer, validate)
  assert.ok(
    validate(body),
    `${method} ${path} answered ${status} with a body that openapi.json does not allow: ${JSON.stringify(validate.errors)}\n${JSON.stringify(body)}`,
  )
}
