import { createKey, revokeKey } from '../admin/manage-keys.ts'
import type { Environment } from '../config.ts'
import { SCOPES, type Scope } from '../security/scopes.ts'
import { type ApiKey, findApiKey, listApiKeys } from '../store/queries/api-keys.ts'
import { type CommandInput, defineCommand, isProblem, type Problem, renderTable } from './command.ts'
import { osUser } from './os-user.ts'
import {
  environmentOption,
  readEnvironment,
  readOrganization,
  readTarget,
  TARGET_USAGE,
  targetOptions,
} from './shared-options.ts'

const DAY_MS = 86_400_000

interface CreatedKey {
  id: string
  key: string
  environment: Environment
  organization_id: string
  base_url: string
  scopes: readonly Scope[]
  expires_at: string | null
}

export const keysCreate = defineCommand<CreatedKey>({
  name: 'keys create',
  summary: 'Create an API key; the key is shown only once',
  usage: `keys create ${TARGET_USAGE} [--scopes a,b] [--name <name>] [--expires-in-days <n>]`,
  options: {
    ...targetOptions,
    scopes: { type: 'string', description: `all (default), or a comma-separated list of: ${SCOPES.join(', ')}` },
    name: { type: 'string', description: 'what the key is for' },
    'expires-in-days': { type: 'string', description: 'days until the key expires; by default it never expires' },
  },
  async run(installation, input) {
    const { options } = input
    const environment = readEnvironment(options)
    const scopes = readScopes(options.scopes)
    const expiresAt = readExpiry(options['expires-in-days'], installation.nowMs())
    const organization = await readOrganization(installation, options)
    for (const value of [environment, scopes, expiresAt, organization]) if (isProblem(value)) return value
    const choice = {
      environment: environment as Environment,
      scopes: scopes as Scope[],
      expiresAt: expiresAt as string | null,
    }
    const organizationId = (organization as { id: string }).id
    const { id, key } = await createKey(installation, {
      ...choice,
      organizationId,
      name: (options.name as string) ?? 'Key',
      actor: osUser(input),
    })
    return {
      id,
      key,
      environment: choice.environment,
      organization_id: organizationId,
      base_url: installation.config.baseUrls[choice.environment],
      scopes: choice.scopes,
      expires_at: choice.expiresAt,
    }
  },
  render: ({ id, key, environment, base_url, expires_at }) =>
    [
      key,
      '',
      'Store the key now: it cannot be shown again.',
      `Its id is ${id}. It works in ${environment} (${base_url})${expires_at ? ` until ${expires_at}` : ''}.`,
    ].join('\n'),
})

type ListedKey = Omit<ApiKey, 'key_hash'>

export const keysList = defineCommand<ListedKey[]>({
  name: 'keys list',
  summary: 'List API keys',
  usage: `keys list ${TARGET_USAGE}`,
  options: targetOptions,
  async run(installation, { options }) {
    const target = await readTarget(installation, options)
    if (isProblem(target)) return target
    const keys = await listApiKeys(installation.storage.environments[target.environment], target.organizationId)
    return keys.map(({ key_hash: _hash, ...key }) => key)
  },
  render: (keys) =>
    renderTable(
      ['ID', 'NAME', 'ENDS WITH', 'STATE', 'LAST USED', 'SCOPES'],
      keys.map((key) => [
        key.id,
        key.name,
        `…${key.last_four}`,
        stateOf(key),
        key.last_used_at ?? 'never',
        key.scopes === SCOPES.join(' ') ? 'all' : key.scopes,
      ]),
    ),
})

export const keysRevoke = defineCommand<{ id: string; revoked: true }>({
  name: 'keys revoke',
  summary: 'Revoke an API key for good; every node refuses it within a second',
  usage: 'keys revoke <key id> [--environment sandbox|production]',
  arguments: ['key id'],
  options: { environment: environmentOption },
  async run(installation, input) {
    const { options, positionals } = input
    const environment = readEnvironment(options)
    if (isProblem(environment)) return environment
    const id = positionals[0]!
    const key = await findApiKey(installation.storage.environments[environment], id)
    if (!key) return { problem: `there is no key ${id} in ${environment}: run keys list to see the keys` }
    if (!(await revokeKey(installation, environment, { key, actor: osUser(input) })))
      return { problem: `${id} is already revoked` }
    return { id, revoked: true }
  },
  render: ({ id }) => `Revoked ${id}.`,
})

function readScopes(text: CommandInput['options'][string]): Scope[] | Problem {
  if (text === undefined || text === 'all') return [...SCOPES]
  const names = String(text)
    .split(',')
    .map((name) => name.trim())
  const unknown = names.find((name) => !SCOPES.some((scope) => scope === name))
  return unknown === undefined
    ? (names as Scope[])
    : { problem: `${JSON.stringify(unknown)} is not a scope: the scopes are ${SCOPES.join(', ')}` }
}

function readExpiry(text: CommandInput['options'][string], nowMs: number): string | null | Problem {
  if (text === undefined) return null
  const days = Number(text)
  if (!Number.isInteger(days) || days < 1 || days > 3650)
    return { problem: '--expires-in-days must be a whole number from 1 to 3650' }
  return new Date(nowMs + days * DAY_MS).toISOString()
}

function stateOf({ revoked_at, expires_at }: ListedKey): string {
  if (revoked_at) return `revoked ${revoked_at.slice(0, 10)}`
  if (expires_at) return `until ${expires_at.slice(0, 10)}`
  return 'active'
}
