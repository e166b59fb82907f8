/** The permissions that an API key can have. */
export const SCOPES = [
  'entities:read',
  'entities:write',
  'identity_links:write',
  'consents:write',
  'transactions:write',
  'feature_snapshots:write',
  'audit_trail:read',
  'decisions:write',
  'decisions:read',
  'reviews:write',
  'outcomes:write',
  'usage:read',
  'webhooks:write',
] as const

export type Scope = (typeof SCOPES)[number]
