import {
  createKey,
  disableKey,
  enableKey,
  GRACE_MS,
  type Grace,
  type KeyAct,
  revokeKey,
  rotateKey,
} from '../admin/manage-keys.ts'
import type { Environment } from '../config.ts'
import type { Installation } from '../installation/installation.ts'
import { apiKeyState } from '../security/api-key-state.ts'
import { SCOPES, type Scope } from '../security/scopes.ts'
import type { ApiKey } from '../store/environment/api-keys.ts'
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

type ListedKey = Omit<ApiKey, 'key_hash' | 'entry_id' | 'mac'> & { state: string }

export const keysList = defineCommand<ListedKey[]>({
  name: 'keys list',
  summary: 'List API keys',
  usage: `keys list ${TARGET_USAGE}`,
  options: targetOptions,
  async run(installation, { options }) {
    const target = await readTarget(installation, options)
    if (isProblem(target)) return target
    const keys = await installation.stores[target.environment].apiKeys.list(target.organizationId)
    const nowMs = installation.nowMs()
    return keys.map(({ key_hash: _hash, entry_id: _entry, mac: _mac, ...key }) => ({
      ...key,
      state: apiKeyState(key, nowMs),
    }))
  },
  render: (keys) =>
    renderTable(
      ['ID', 'NAME', 'ENDS WITH', 'STATE', 'LAST USED', 'SCOPES'],
      keys.map((key) => [
        key.id,
        key.name,
        `…${key.last_four}`,
        describeState(key),
        key.last_used_at ?? 'never',
        key.scopes === SCOPES.join(' ') ? 'all' : key.scopes,
      ]),
    ),
})

const GRACES = Object.keys(GRACE_MS) as Grace[]
const keyActOptions = {
  environment: environmentOption,
  reason: { type: 'string', description: 'why; recorded in the audit log' },
} as const
const KEY_ACT_USAGE = '[--reason <text>] [--environment sandbox|production]'

export const keysRotate = defineCommand<CreatedKey & { replaces: string; retires_at: string }>({
  name: 'keys rotate',
  summary: 'Replace an API key by a new one with the same name and scopes; the old one works for a grace period',
  usage: `keys rotate <key id> [--grace ${GRACES.join('|')}] ${KEY_ACT_USAGE}`,
  arguments: ['key id'],
  options: {
    ...keyActOptions,
    grace: {
      type: 'string',
      description: `how long the old key goes on working: ${GRACES.join(', ')}; 24h by default`,
    },
  },
  async run(installation, input) {
    const found = await readKeyAct(installation, input)
    if (isProblem(found)) return found
    const { environment, act } = found
    const grace = GRACES.find((known) => known === (input.options.grace ?? '24h'))
    if (grace === undefined) return { problem: `--grace must be one of ${GRACES.join(', ')}` }
    const rotated = await rotateKey(installation, environment, { ...act, grace })
    if (isProblem(rotated)) return rotated
    return {
      ...rotated,
      replaces: act.key.id,
      environment,
      organization_id: act.key.org_id,
      base_url: installation.config.baseUrls[environment],
      scopes: act.key.scopes.split(' ') as Scope[],
    }
  },
  render: ({ id, key, environment, base_url, replaces, retires_at }) =>
    [
      key,
      '',
      'Store the key now: it cannot be shown again.',
      `Its id is ${id}. It works in ${environment} (${base_url}).`,
      `${replaces} ends at ${retires_at}.`,
    ].join('\n'),
})

export const keysDisable = defineCommand<{ id: string; disabled: true }>({
  name: 'keys disable',
  summary: 'Stop an API key from working until it is enabled again; every node refuses it within a second',
  usage: `keys disable <key id> ${KEY_ACT_USAGE}`,
  arguments: ['key id'],
  options: keyActOptions,
  async run(installation, input) {
    const found = await readKeyAct(installation, input)
    if (isProblem(found)) return found
    const { id } = found.act.key
    if (!(await disableKey(installation, found.environment, found.act)))
      return { problem: `${id} is disabled or revoked already` }
    return { id, disabled: true }
  },
  render: ({ id }) => `Disabled ${id}.`,
})

export const keysEnable = defineCommand<{ id: string; enabled: true }>({
  name: 'keys enable',
  summary: 'Let a disabled API key work again',
  usage: `keys enable <key id> ${KEY_ACT_USAGE}`,
  arguments: ['key id'],
  options: keyActOptions,
  async run(installation, input) {
    const found = await readKeyAct(installation, input)
    if (isProblem(found)) return found
    const { id } = found.act.key
    const done = await enableKey(installation, found.environment, found.act)
    if (isProblem(done)) return done
    return done ? { id, enabled: true } : { problem: `${id} is not disabled, or it is revoked` }
  },
  render: ({ id }) => `Enabled ${id}.`,
})

export const keysRevoke = defineCommand<{ id: string; revoked: true }>({
  name: 'keys revoke',
  summary: 'Revoke an API key for good; every node refuses it within a second',
  usage: `keys revoke <key id> ${KEY_ACT_USAGE}`,
  arguments: ['key id'],
  options: keyActOptions,
  async run(installation, input) {
    const found = await readKeyAct(installation, input)
    if (isProblem(found)) return found
    const { id } = found.act.key
    if (!(await revokeKey(installation, found.environment, found.act))) return { problem: `${id} is already revoked` }
    return { id, revoked: true }
  },
  render: ({ id }) => `Revoked ${id}.`,
})

async function readKeyAct(
  { stores }: Installation,
  input: CommandInput,
): Promise<{ environment: Environment; act: KeyAct } | Problem> {
  const { options, positionals } = input
  const environment = readEnvironment(options)
  if (isProblem(environment)) return environment
  const id = positionals[0]!
  const key = await stores[environment].apiKeys.byId(id)
  if (!key) return { problem: `there is no key ${id} in ${environment}: run keys list to see the keys` }
  const reason = options.reason === undefined ? undefined : String(options.reason)
  return { environment, act: { key, actor: osUser(input), reason } }
}

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

function describeState({ state, revoked_at, expires_at, retires_at, disabled_at }: ListedKey): string {
  const since = { revoked: revoked_at, replaced: retires_at, expired: expires_at, disabled: disabled_at }[state]
  if (since) return `${state} ${since.slice(0, 10)}`
  const until = retires_at ?? expires_at
  return until ? `until ${until.slice(0, 10)}` : 'active'
}
