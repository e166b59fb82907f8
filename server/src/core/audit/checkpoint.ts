import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto'
import { canonicalJson } from '../canonical-json.ts'
import type { Environment } from '../vocabularies.ts'

/** The state of a log at one moment: its number of leaves and its root. */
export interface TreeHead {
  tree_size: number
  root_hash: string
  signed_at: string
}

/** A signed tree head, which the installation that signed it cannot deny later. */
export interface Checkpoint extends TreeHead {
  key_id: string
  signature: string
}

/** Identifies a log. It is part of the signed text, because a head of one log must prove nothing about another. */
export interface LogIdentity {
  environment: Environment
  organizationId: string
}

const FORMAT = 'verdigraph.tree-head.v1'

/** The exact text that is signed, in UTF-8. */
export function signedText(log: LogIdentity, head: TreeHead): string {
  return canonicalJson({
    type: FORMAT,
    environment: log.environment,
    organization_id: log.organizationId,
    tree_size: head.tree_size,
    root_hash: head.root_hash,
    signed_at: head.signed_at,
  })
}

/** Signs a tree head with an Ed25519 private key. */
export function signCheckpoint(log: LogIdentity, head: TreeHead, privateKey: KeyObject): Checkpoint {
  requireEd25519(privateKey)
  const signature = sign(null, signedBytes(log, head), privateKey).toString('hex')
  const { tree_size, root_hash, signed_at } = head
  return { tree_size, root_hash, signed_at, key_id: keyId(createPublicKey(privateKey)), signature }
}

/** Whether this key signed this head of this log. */
export function verifyCheckpoint(log: LogIdentity, checkpoint: Checkpoint, publicKey: KeyObject): boolean {
  requireEd25519(publicKey)
  const signature = parseSignature(checkpoint.signature)
  return signature !== null && verify(null, signedBytes(log, checkpoint), publicKey, signature)
}

/** The fields of a signed head alone, of a row that has more. */
export function checkpointOf({ tree_size, root_hash, signed_at, key_id, signature }: Checkpoint): Checkpoint {
  return { tree_size, root_hash, signed_at, key_id, signature }
}

/** The id of a public key: the first 16 hexadecimal digits of the SHA-256 of its SPKI form. */
export function keyId(publicKey: KeyObject): string {
  return hash('sha256', publicKey.export({ type: 'spki', format: 'der' })).slice(0, 16)
}

function signedBytes(log: LogIdentity, head: TreeHead): Uint8Array {
  return new TextEncoder().encode(signedText(log, head))
}

function parseSignature(text: string): Uint8Array | null {
  if (!/^[0-9a-f]{128}$/.test(text)) return null
  return Uint8Array.from({ length: 64 }, (_, index) => Number.parseInt(text.slice(index * 2, index * 2 + 2), 16))
}

function requireEd25519(key: KeyObject): void {
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('a log must be signed with an Ed25519 key')
}
