import { createPublicKey, hash, type KeyObject } from 'node:crypto'
import { canonicalJson } from '../canonical-json.ts'
import type { Environment } from '../vocabularies.ts'
import { isSignedText, signText } from './signed-text.ts'

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
  const signature = signText(signedText(log, head), privateKey)
  const { tree_size, root_hash, signed_at } = head
  return { tree_size, root_hash, signed_at, key_id: keyId(createPublicKey(privateKey)), signature }
}

/** Whether this key signed this head of this log. */
export function verifyCheckpoint(log: LogIdentity, checkpoint: Checkpoint, publicKey: KeyObject): boolean {
  return isSignedText(signedText(log, checkpoint), checkpoint.signature, publicKey)
}

/** The fields of a signed head alone, of a row that has more. */
export function checkpointOf({ tree_size, root_hash, signed_at, key_id, signature }: Checkpoint): Checkpoint {
  return { tree_size, root_hash, signed_at, key_id, signature }
}

/** The id of a public key: the first 16 hexadecimal digits of the SHA-256 of its SPKI form. */
export function keyId(publicKey: KeyObject): string {
  return hash('sha256', publicKey.export({ type: 'spki', format: 'der' })).slice(0, 16)
}
