import { createKey, revokeKey } from '../../server/src/admin/manage-keys.ts'
import { addOperator, findCurrentOperator } from '../../server/src/admin/manage-operators.ts'
import { addEndpoint } from '../../server/src/admin/manage-webhooks.ts'
import type { EventType } from '../../server/src/core/webhooks/event-types.ts'
import type { Installation } from '../../server/src/installation/installation.ts'
import type { Scope } from '../../server/src/security/scopes.ts'
import type { KeyName } from './api-client.ts'
import { TEAM } from './names.ts'
import type { Outage, WebhookReceivers } from './webhook-receivers.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ACTOR = { type: 'system', id: 'demo' } as const

/** A person who reviews decisions of the sample. */
export interface Reviewer {
  id: string
  name: string
}

const KEYS: Readonly<Record<KeyName, { name: string; scopes: readonly Scope[] }>> = {
  backend: {
    name: 'Sample: application backend',
    scopes: [
      ...(['entities:read', 'entities:write', 'identity_links:write', 'consents:write'] as const),
      ...(['transactions:write', 'feature_snapshots:write', 'decisions:write', 'decisions:read'] as const),
      'webhooks:write',
    ],
  },
  servicing: { name: 'Sample: loan servicing', scopes: ['outcomes:write', 'transactions:write', 'decisions:read'] },
  cases: { name: 'Sample: case management', scopes: ['reviews:write', 'decisions:read', 'entities:read'] },
  analytics: { name: 'Sample: analytics, read only', scopes: ['usage:read', 'decisions:read', 'audit_trail:read'] },
}

/** Creates the keys of the sample programs, and one that has been revoked. */
export async function createSampleKeys(
  installation: Installation,
  organizationId: string,
): Promise<Record<KeyName, string>> {
  const act = { organizationId, environment: 'sandbox', by: ACTOR, channel: 'service' } as const
  const create = async ({ name, scopes }: { name: string; scopes: readonly Scope[] }) =>
    createKey(installation, act, { name, scopes, expiresAt: null })
  const old = await create({ name: 'Sample: first integration', scopes: ['entities:write', 'decisions:write'] })
  await revokeKey(installation, act, old.id)
  const created = {} as Record<KeyName, string>
  for (const name of Object.keys(KEYS) as KeyName[]) created[name] = (await create(KEYS[name])).key
  return created
}

/**
 * Adds the sample team and returns its reviewers, under the ids that the sample's case management has for them. None of
 * them can sign in until an owner invites them, and none is owner or admin: two of these would have to vouch for every
 * operator that is added later.
 */
export async function addSampleTeam(installation: Installation, organizationId: string): Promise<Reviewer[]> {
  const act = { organizationId, by: ACTOR, channel: 'service' } as const
  for (const person of TEAM) {
    // People whom an earlier run added stay as they are.
    const isKnown = await findCurrentOperator(installation, organizationId, person.email)
    if (!isKnown) await addOperator(installation, act, person)
  }
  return TEAM.filter(({ role }) => role === 'reviewer').map(({ email, name }) => ({ id: email, name }))
}

const ENDPOINTS: readonly { path: string; description: string; eventTypes: readonly EventType[] }[] = [
  {
    path: '/loan-servicing',
    description: 'Sample: loan servicing pays out and collects',
    eventTypes: ['decision.created', 'decision.reviewed'],
  },
  {
    path: '/case-management',
    description: 'Sample: case management opens and closes cases',
    eventTypes: ['decision.reviewed', 'decision.reevaluation_due'],
  },
  {
    path: '/warehouse',
    description: 'Sample: data warehouse, which is down at the moment',
    eventTypes: ['decision.created', 'decision.outcome_recorded'],
  },
  {
    path: '/old-crm',
    description: 'Sample: a CRM that was switched off',
    eventTypes: ['entity.created', 'entity.updated'],
  },
]

/** How many days ago the endpoints were added: as long as deliveries are kept, less a day. */
export const ENDPOINTS_SINCE_DAYS = 29

/** When the receivers refused deliveries: two outages that are over, one that lasts, and one that asked for no more. */
export function outagesUntil(now: number): Outage[] {
  return [
    { path: '/loan-servicing', from: now - 17 * DAY_MS, to: now - 17 * DAY_MS + 5 * HOUR_MS, status: 503 },
    { path: '/case-management', from: now - 8 * DAY_MS, to: now - 8 * DAY_MS + 11 * HOUR_MS, status: 502 },
    { path: '/warehouse', from: now - 21 * HOUR_MS, to: now + DAY_MS, status: 503 },
    { path: '/old-crm', from: now - 12 * DAY_MS, to: now + DAY_MS, status: 410 },
  ]
}

/** Adds the webhook endpoints of the sample programs. */
export async function addSampleEndpoints(
  installation: Installation,
  { organizationId, receivers }: { organizationId: string; receivers: WebhookReceivers },
): Promise<void> {
  for (const { path, description, eventTypes } of ENDPOINTS) {
    const act = { environment: 'sandbox', organizationId, by: ACTOR, channel: 'service' } as const
    await addEndpoint(installation, act, { url: await receivers.start(path), description, eventTypes })
  }
}
