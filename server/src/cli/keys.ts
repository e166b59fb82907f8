import type { EnvironmentAct } from '../admin/act.ts'
import {
  createKey,
  disableKey,
  enableKey,
  GRACE_MS,
  type Grace,
  revokeKey,
  rotateKey,
  scopesOf,
} from '../admin/manage-keys.ts'
import { invalid, notFound } from '../admin/problem.ts'
import type { Environment } from '../config.ts'
import type { Installation } from '../installation/installation.ts'
import { apiKeyState } from '../security/api-key-state.ts'
import { SCOPES, type Scope } from '../security/scopes.ts'
import type { ApiKey } from '../store/environment/api-keys.ts'
import { type CommandInput, defineCommand, renderTable } from './command.ts'
import {
  commandAct,
  environmentOption,
  readEnvironment,
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
    const target = await readTarget(installation, options)
    const scopes = readScopes(options.scopes)
    const expiresAt = readExpiry(options['expires-in-days'], installation.nowMs())
    const { id, key } = await createKey(installation, commandAct(input, target), {
      name: (options.name as string) ?? 'Key',
      scopes,
      expiresAt,
    })
    const { organizationId: organization_id, environment } = target
    const base_url = installation.config.baseUrls[environment]
    return { id, key, environment, organization_id, base_url, scopes, expires_at: expiresAt }
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
    const grace = GRACES.find((known) => known === (input.options.grace ?? '24h'))
    if (grace === undefined) throw invalid('grace_unknown', `--grace must be one of ${GRACES.join(', ')}.`)
    const { id, act } = await readKeyAct(installation, input)
    const { replaced, ...rotated } = await rotateKey(installation, act, { id, grace })
    const { environment, organizationId: organization_id } = act
    const base_url = installation.config.baseUrls[environment]
    return { ...rotated, replaces: id, environment, organization_id, base_url, scopes: scopesOf(replaced) }
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

export const keysDisable = defineKeySwitch('disable', disableKey, {
  summary: 'Stop an API key from working until it is enabled again; every node refuses it within a second',
  done: 'disabled',
})

export const keysEnable = defineKeySwitch('enable', enableKey, {
  summary: 'Let a disabled API key work again',
  done: 'enabled',
})

export const keysRevoke = defineKeySwitch('revoke', revokeKey, {
  summary: 'Revoke an API key for good; every node refuses it within a second',
  done: 'revoked',
})

/** Makes a command that changes whether a key works. Its result has a member that is named as what was done. */
function defineKeySwitch(
  verb: string,
  switchKey: typeof disableKey,
  { summary, done }: { summary: string; done: string },
): ReturnType<typeof defineCommand> {
  return defineCommand<{ id: string }>({
    name: `keys ${verb}`,
    summary,
    usage: `keys ${verb} <key id> ${KEY_ACT_USAGE}`,
    arguments: ['key id'],
    options: keyActOptions,
    async run(installation, input) {
      const { id, act } = await readKeyAct(installation, input)
      return { ...(await switchKey(installation, act, id)), [done]: true }
    },
    render: ({ id }) => `${done[0]!.toUpperCase()}${done.slice(1)} ${id}.`,
  })
}

/** Reads the id of a key and --environment, and finds its organization. */
async function readKeyAct({ stores }: Installation, input: CommandInput): Promise<{ id: string; act: EnvironmentAct }> {
  const environment = readEnvironment(input.options)
  const id = input.positionals[0]!
  const key = await stores[environment].apiKeys.byId(id)
  if (!key) throw notFound('key_not_found', `There is no key ${id} in ${environment}.`)
  return { id, act: commandAct(input, { organizationId: key.org_id, environment }) }
}

function readScopes(text: CommandInput['options'][string]): Scope[] {
  if (text === undefined || text === 'all') return [...SCOPES]
  const names = String(text)
    .split(',')
    .map((name) => name.trim())
  const unknown = names.find((name) => !SCOPES.some((scope) => scope === name))
  if (unknown !== undefined)
    throw invalid('scope_unknown', `${JSON.stringify(unknown)} is not a scope. The scopes are ${SCOPES.join(', ')}.`)
  return names as Scope[]
}

function readExpiry(text: CommandInput['options'][string], nowMs: number): string | null {
  if (text === undefined) return null
  const days = Number(text)
  if (!Number.isInteger(days) || days < 1 || days > 3650)
    throw invalid('expiry_invalid', '--expires-in-days must be a whole number from 1 to 3650.')
  return new Date(nowMs + days * DAY_MS).toISOString()
}

function describeState({ state, revoked_at, expires_at, retires_at, disabled_at }: ListedKey): string {
  const since = { revoked: revoked_at, replaced: retires_at, expired: expires_at, disabled: disabled_at }[state]
  if (since) return `${state} ${since.slice(0, 10)}`
  const until = retires_at ?? expires_at
  return until ? `until ${until.slice(0, 10)}` : 'active'
}
