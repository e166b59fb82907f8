import { createHmac, randomBytes } from 'node:crypto'
import type { MasterKey } from './master-key.ts'

const TOKEN_BYTES = 32

/** What a token is for; each purpose has its own key, so that the token of one cannot stand in for another's. */
export type TokenPurpose = 'sessions' | 'invitations' | 'first link' | 'challenges'

/** Generates what a session cookie or a one-time link holds: 256 random bits in base64url. */
export function generateToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/**
 * Hashes a token for storage; the token itself is not stored. The hash takes a key that the database does not have:
 * with SHA-256, an administrator of the database could insert the row of a token that they chose.
 */
export function hashToken(masterKey: MasterKey, purpose: TokenPurpose, token: string): string {
  return createHmac('sha256', masterKey.deriveLasting(`tokens of ${purpose}`))
    .update(token)
    .digest('hex')
}
