/** The part of `node:crypto` that core may use: pure functions of their arguments, no key generation, no randomness. */
declare module 'node:crypto' {
  interface Hash {
    update(data: string | Uint8Array): Hash
    update(data: string, encoding: 'hex'): Hash
    digest(): Uint8Array
    digest(encoding: 'hex' | 'base64'): string
  }
  interface Bytes extends Uint8Array<ArrayBuffer> {
    toString(encoding?: 'hex'): string
  }
  export interface KeyObject {
    readonly asymmetricKeyType?: string
    export(options: { type: 'spki'; format: 'der' }): Bytes
  }
  export function createHash(algorithm: 'sha256'): Hash
  export function createHmac(algorithm: 'sha256', key: string | Uint8Array | KeyObject): Hash
  export function hash(algorithm: 'sha256', data: string | Uint8Array, encoding?: 'hex'): string
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean
  export function createPublicKey(key: KeyObject | string): KeyObject
  /** Ed25519 signatures are deterministic (RFC 8032 §5.1.6); the algorithm is the key's. */
  export function sign(algorithm: null, data: Uint8Array, key: KeyObject): Bytes
  export function verify(algorithm: null, data: Uint8Array, key: KeyObject, signature: Uint8Array): boolean
}

declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>
}
