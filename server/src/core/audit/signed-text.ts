import { type KeyObject, sign, verify } from 'node:crypto'

/** Signs a text, as UTF-8, with an Ed25519 private key; the signature is in hexadecimal. */
export function signText(text: string, privateKey: KeyObject): string {
  requireEd25519(privateKey)
  return sign(null, new TextEncoder().encode(text), privateKey).toString('hex')
}

/** Whether this key signed this text. */
export function isSignedText(text: string, signature: string, publicKey: KeyObject): boolean {
  requireEd25519(publicKey)
  const bytes = parseSignature(signature)
  return bytes !== null && verify(null, new TextEncoder().encode(text), publicKey, bytes)
}

function parseSignature(text: string): Uint8Array | null {
  if (!/^[0-9a-f]{128}$/.test(text)) return null
  return Uint8Array.from({ length: 64 }, (_, index) => Number.parseInt(text.slice(index * 2, index * 2 + 2), 16))
}

function requireEd25519(key: KeyObject): void {
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('a log must be signed with an Ed25519 key')
}
