/** The permissions that an API key can have, each with what it lets a caller do. */
export const SCOPE_DESCRIPTIONS = {
  'entities:read': 'Read entities, with their trust and links',
  'entities:write': 'Create and change entities',
  'identity_links:write': 'Add identifiers and relationships to entities',
  'consents:write': 'Record consents and their revocation',
  'transactions:write': 'Send transactions of entities',
  'feature_snapshots:write': 'Send features that were computed elsewhere',
  'audit_trail:read': 'Read the audit trail of an entity, with its proofs',
  'decisions:write': 'Ask for decisions',
  'decisions:read': 'Read and replay decisions',
  'reviews:write': 'Record reviews of decisions',
  'outcomes:write': 'Report what became of a decision',
  'usage:read': 'Read usage figures',
  'webhooks:write': 'Send test events to webhook endpoints',
} as const satisfies Record<string, string>

/** A permission of an API key. */
export type Scope = keyof typeof SCOPE_DESCRIPTIONS

/** All permissions that an API key can have. */
export const SCOPES = Object.keys(SCOPE_DESCRIPTIONS) as readonly Scope[]
