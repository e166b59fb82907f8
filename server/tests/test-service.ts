/** A whole service in the process of the test, on free ports; closed and deleted when the test file ends. */

import { after } from 'node:test'
import { pino } from 'pino'
import { createKey } from '../src/admin/manage-keys.ts'
import { createOrganization } from '../src/admin/manage-organizations.ts'
import { type Environment, ROLES, type Role, readConfig } from '../src/config.ts'
import { SCOPES, type Scope } from '../src/security/scopes.ts'
import { type Service, startService } from '../src/service/start-service.ts'
import { byService, SERVICE } from './acts.ts'
import { assertMatchesOpenapi } from './assert-matches-openapi.ts'
import { createTestStorage } from './test-storage.ts'

/** Numbers the organizations that get no name of their own: names are unique. */
let organizations = 0

/** An answer of the API with its body. */
export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape; each was validated by openapi.json.
  body: any
}

/** Everything of a request but its path; `rawBody` is sent as it is, `body` as JSON. */
export interface RequestOptions {
  method?: string
  key?: string | null
  body?: unknown
  rawBody?: string | Uint8Array
  headers?: Record<string, string>
}

/** A running service, its log lines, and the calls that tests make. */
export interface TestService {
  service: Service
  logs: string[]
  url(environment: Environment): string
  /** Sends a request, and fails the test if openapi.json does not allow the answer. */
  request(environment: Environment, path: string, options?: RequestOptions): Promise<Answer>
  newOrganization(name?: string): Promise<TestOrganization>
}

/** An organization with a key of all scopes for each environment. */
export interface TestOrganization {
  id: string
  keys: Record<Environment, string>
  newKey(
    environment: Environment,
    scopes: readonly Scope[],
    options?: { expiresAt?: string },
  ): Promise<{ id: string; key: string }>
  /** Calls the sandbox. */
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

/** Starts a service for the tests of one file; `env` overrides its settings, `nowMs` its clock, `roles` what it does. */
export async function startTestService({
  env = {},
  nowMs = Date.now,
  roles = ROLES,
}: {
  env?: Record<string, string>
  nowMs?: () => number
  roles?: readonly Role[]
} = {}): Promise<TestService> {
  const storage = await createTestStorage()
  const config = readConfig({
    ...storage.env,
    CONSOLE_PORT: '0',
    SANDBOX_PORT: '0',
    PRODUCTION_PORT: '0',
    RATE_LIMIT_PER_SECOND: '100000',
    ...env,
  })
  const logs: string[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => void logs.push(line) })
  const service = await startService(config, { logger, nowMs, roles })
  after(async () => {
    await service.close()
    await storage.remove()
  })

  const request: TestService['request'] = async (
    environment,
    path,
    { method = 'GET', key = null, body, rawBody, headers = {} } = {},
  ) => {
    const response = await fetch(service.urls[environment] + path, {
      method,
      headers: {
        ...(key && { Authorization: `Bearer ${key}` }),
        ...((body !== undefined || rawBody !== undefined) && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...((rawBody ?? body) !== undefined && { body: (rawBody ?? JSON.stringify(body)) as string }),
    })
    const text = await response.text()
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    }
    if (method !== 'HEAD') assertMatchesOpenapi(method, new URL(path, 'http://localhost').pathname, answer)
    return answer
  }

  return {
    service,
    logs,
    url: (environment) => service.urls[environment]!,
    request,
    newOrganization: (name = `Test ${++organizations}`) => createTestOrganization(service, request, name),
  }
}

async function createTestOrganization(
  { installation }: Service,
  request: TestService['request'],
  name: string,
): Promise<TestOrganization> {
  const { id } = await createOrganization(installation, SERVICE, name)
  const newKey: TestOrganization['newKey'] = (environment, scopes, { expiresAt = null as string | null } = {}) =>
    createKey(installation, byService(id, environment), { name: 'Test', scopes, expiresAt })
  const keys = { sandbox: (await newKey('sandbox', SCOPES)).key, production: (await newKey('production', SCOPES)).key }
  return {
    id,
    keys,
    newKey,
    get: (path) => request('sandbox', path, { key: keys.sandbox }),
    post: (path, body, headers) =>
      request('sandbox', path, { method: 'POST', key: keys.sandbox, body, ...(headers && { headers }) }),
  }
}
