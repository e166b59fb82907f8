import { createKey, revokeKey } from '../admin/manage-keys.ts'
import { findOrganization } from '../admin/manage-organizations.ts'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import { SCOPES, type Scope } from '../security/scopes.ts'
import { type ApiKey, findApiKey, listApiKeys } from '../store/queries/api-keys.ts'
import { cliActor } from './cli-actor.ts'
import { type CommandInput, defineCommand, isProblem, type Problem, renderTable } from './command.ts'

const DAY_MS = 86_400_000
const environmentOption = { type: 'string', description: 'sandbox (the default) or production' } as const
const organizationOption = {
  type: 'string',
  description: 'the organization’s id or name; not needed while there is one',
} as const

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
  summary: 'Create an API key; it is shown once',
  usage:
    'keys create [--org <org>] [--environment sandbox|production] [--scopes a,b] [--name <name>] [--expires-in-days <n>]',
  options: {
    org: organizationOption,
    environment: environmentOption,
    scopes: { type: 'string', description: `all (the default), or some of: ${SCOPES.join(', ')}` },
    name: { type: 'string', description: 'what it is for' },
    'expires-in-days': { type: 'string', description: 'after how many days it ends by itself; never by default' },
  },
  async run(installation, { options }) {
    const environment = readEnvironment(options)
    const scopes = readScopes(options.scopes)
    const expiresAt = readExpiry(options['expires-in-days'], installation.nowMs())
    const organization = await findOrganization(installation, options.org as string | undefined)
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
      actor: cliActor(),
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
      `${key}`,
      '',
      `This is the only time it is shown. Its id is ${id}; it works on ${environment} (${base_url})${expires_at ? ` until ${expires_at}` : ''}.`,
    ].join('\n'),
})

type ListedKey = Omit<ApiKey, 'key_hash'>

export const keysList = defineCommand<ListedKey[]>({
  name: 'keys list',
  summary: 'List API keys',
  usage: 'keys list [--org <org>] [--environment sandbox|production]',
  options: { org: organizationOption, environment: environmentOption },
  async run(installation, { options }) {
    const environment = readEnvironment(options)
    if (isProblem(environment)) return environment
    const organization = await findOrganization(installation, options.org as string | undefined)
    if (isProblem(organization)) return organization
    const keys = await listApiKeys(installation.storage.environments[environment], organization.id)
    return keys.map(({ key_hash: _hash, ...key }) => key)
  },
  render: (keys) =>
    renderTable(
      ['ID', 'NAME', 'ENDS IN', 'STATE', 'LAST USED', 'SCOPES'],
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
  summary: 'End an API key for good, on every node within a second',
  usage: 'keys revoke <key id> [--environment sandbox|production]',
  arguments: ['key id'],
  options: { environment: environmentOption },
  async run(installation, { options, positionals }) {
    const environment = readEnvironment(options)
    if (isProblem(environment)) return environment
    const id = positionals[0]!
    const key = await findApiKey(installation.storage.environments[environment], id)
    if (!key) return { problem: `there is no key ${id} in ${environment}: keys list shows them` }
    if (!(await revokeKey(installation, environment, { key, actor: cliActor() })))
      return { problem: `${id} was revoked before` }
    return { id, revoked: true }
  },
  render: ({ id }) => `Revoked ${id}.`,
})

function readEnvironment(options: CommandInput['options']): Environment | Problem {
  const wanted = options.environment ?? 'sandbox'
  return (
    ENVIRONMENTS.find((name) => name === wanted) ?? {
      problem: `--environment must be sandbox or production, not ${JSON.stringify(wanted)}`,
    }
  )
}

function readScopes(text: CommandInput['options'][string]): Scope[] | Problem {
  if (text === undefined || text === 'all') return [...SCOPES]
  const names = String(text)
    .split(',')
    .map((name) => name.trim())
  const unknown = names.find((name) => !SCOPES.some((scope) => scope === name))
  return unknown === undefined
    ? (names as Scope[])
    : { problem: `${JSON.stringify(unknown)} is not a scope; the scopes are ${SCOPES.join(', ')}` }
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
