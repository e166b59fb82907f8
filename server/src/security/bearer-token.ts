import { hash, randomBytes } from 'node:crypto'

const TOKEN_BYTES = 32

/** Generates what a session cookie or a one-time link holds: 256 random bits in base64url. */
export function generateToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** Hashes a token for storage; the token itself is not stored. With 256 random bits, SHA-256 is as safe as a slow hash. */
export function hashToken(token: string): string {
  return hash('sha256', token)
}
