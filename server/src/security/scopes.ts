/** What a key may be allowed to do; it may do nothing else. */
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
