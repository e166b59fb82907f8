import {
  createKey,
  disableKey,
  enableKey,
  GRACE_MS,
  type Grace,
  revokeKey,
  rotateKey,
  scopesOf,
} from '../../admin/manage-keys.ts'
import { rolesThatGive } from '../../admin/permissions.ts'
import { NOT_BLANK, Nullable, OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { apiKeyState } from '../../security/api-key-state.ts'
import { SCOPE_DESCRIPTIONS, SCOPES } from '../../security/scopes.ts'
import type { ApiKey } from '../../store/environment/api-keys.ts'
import { defineOperation } from '../define-operation.ts'
import { recordMakers } from '../record-makers.ts'

const DAY_MS = 86_400_000
const GRACES = Object.keys(GRACE_MS) as Grace[]
const id = Type.String({ minLength: 1, maxLength: 40 })
const reason = Type.String({ minLength: 1, maxLength: 500, pattern: NOT_BLANK })

/** Lists the keys of the environment, newest first, and the scopes that a key can have. */
const listKeys = defineOperation({
  summary: 'List API keys with their states',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle({ installation, store, organizationId, environment, operator, now }) {
    const keys = await store.apiKeys.list(organizationId)
    const makerOf = await recordMakers(installation, store, { organizationId, ids: keys.map((key) => key.id) })
    const replacedBy = new Map(keys.flatMap((key) => (key.replaces === null ? [] : [[key.replaces, key.id]])))
    return {
      keys: keys.reverse().map((key) => ({
        ...show(key, Date.parse(now)),
        prefix: `sk_${environment}_`,
        created_by: makerOf(key.id),
        replaced_by: replacedBy.get(key.id) ?? null,
      })),
      scopes: SCOPES.map((name) => ({
        name,
        description: SCOPE_DESCRIPTIONS[name],
        /** Whether the caller may give it to a key, and which roles may. */
        may_give: rolesThatGive(name).includes(operator.role),
        given_by: rolesThatGive(name),
      })),
      base_url: installation.config.baseUrls[environment],
    }
  },
})

/** Creates a key and answers with its text, which cannot be shown again. */
const createKeyOperation = defineOperation({
  summary: 'Create an API key',
  access: createKey.permission,
  input: Strict({
    name: Type.String({ minLength: 1, maxLength: 100, pattern: NOT_BLANK }),
    scopes: Type.Array(OneOf(SCOPES), { minItems: 1, maxItems: SCOPES.length }),
    expires_in_days: Nullable(Type.Integer({ minimum: 1, maximum: 3_650 })),
  }),
  audit: ['api_key.created'],
  async handle({ input, installation, act, environment, now }) {
    const { scopes, expires_in_days: days } = input
    const name = input.name.trim()
    const created = await createKey(installation, act, {
      name,
      scopes: SCOPES.filter((scope) => scopes.includes(scope)),
      expiresAt: days === null ? null : new Date(Date.parse(now) + days * DAY_MS).toISOString(),
    })
    return { ...created, name, scopes, base_url: installation.config.baseUrls[environment] }
  },
})

/** Replaces a key by a new one, which is answered once; the old one ends after the grace period. */
const rotateKeyOperation = defineOperation({
  summary: 'Rotate an API key',
  access: rotateKey.permission,
  input: Strict({ id, grace: OneOf(GRACES), reason }),
  audit: ['api_key.created', 'api_key.rotated'],
  async handle({ input: { id: keyId, grace }, installation, act, environment }) {
    const { replaced, ...rotated } = await rotateKey(installation, act, { id: keyId, grace })
    const { name } = replaced
    return { ...rotated, name, scopes: scopesOf(replaced), base_url: installation.config.baseUrls[environment] }
  },
})

/** Stops a key from working until it is enabled again. */
const disableKeyOperation = defineOperation({
  summary: 'Disable an API key',
  access: disableKey.permission,
  input: Strict({ id, reason }),
  audit: ['api_key.disabled'],
  handle: ({ installation, act, input }) => disableKey(installation, act, input.id),
})

/** Lets a disabled key work again. */
const enableKeyOperation = defineOperation({
  summary: 'Enable an API key',
  access: enableKey.permission,
  input: Strict({ id, reason }),
  audit: ['api_key.enabled'],
  handle: ({ installation, act, input }) => enableKey(installation, act, input.id),
})

/** Ends a key for good. */
const revokeKeyOperation = defineOperation({
  summary: 'Revoke an API key',
  access: revokeKey.permission,
  input: Strict({ id, reason }),
  audit: ['api_key.revoked'],
  handle: ({ installation, act, input }) => revokeKey(installation, act, input.id),
})

function show(key: ApiKey, nowMs: number) {
  const { id: keyId, name, last_four, created_at, expires_at, retires_at, last_used_at } = key
  const { disabled_at, revoked_at, replaces } = key
  return {
    id: keyId,
    name,
    last_four,
    created_at,
    expires_at,
    retires_at,
    last_used_at,
    disabled_at,
    revoked_at,
    replaces,
    scopes: scopesOf(key),
    state: apiKeyState(key, nowMs),
  }
}

/** The operations `api-keys.<verb>`. */
export const apiKeys = {
  list: listKeys,
  create: createKeyOperation,
  rotate: rotateKeyOperation,
  disable: disableKeyOperation,
  enable: enableKeyOperation,
  revoke: revokeKeyOperation,
}
