import type { KeyObject } from 'node:crypto'
import { canonicalJson } from '../canonical-json.ts'
import type { Environment } from '../vocabularies.ts'
import { isSignedText, signText } from './signed-text.ts'

/** An approved erasure, as it is known outside the database: ids and a time, which lead to nothing once it is carried out. */
export interface KnownErasure {
  organization_id: string
  entity_id: string
  /** The audit entry that approved it. */
  entry_id: string
  /** The operator who proposed it. */
  proposed_by: string | null
  approved_at: string
}

/** The same, with the signature of the installation. */
export interface SignedErasure extends KnownErasure {
  signature: string
}

const FORMAT = 'verdigraph.erasure.v1'

/** Signs an erasure of an environment with an Ed25519 private key. */
export function signErasure(environment: Environment, erasure: KnownErasure, privateKey: KeyObject): SignedErasure {
  const fields = fieldsOf(erasure)
  return { ...fields, signature: signText(signedText(environment, fields), privateKey) }
}

/** Whether one of these keys signed this erasure of this environment. */
export function isSignedErasure(environment: Environment, erasure: SignedErasure, keys: readonly KeyObject[]): boolean {
  const text = signedText(environment, fieldsOf(erasure))
  return keys.some((key) => isSignedText(text, erasure.signature, key))
}

function fieldsOf({ organization_id, entity_id, entry_id, proposed_by, approved_at }: KnownErasure): KnownErasure {
  return { organization_id, entity_id, entry_id, proposed_by, approved_at }
}

function signedText(environment: Environment, erasure: KnownErasure): string {
  return canonicalJson({ type: FORMAT, environment, ...erasure })
}
