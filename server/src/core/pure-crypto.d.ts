/** The core sees of `node:crypto` only what is a pure function of its arguments: no keys made, no randomness. */
declare module 'node:crypto' {
  interface Hash {
    update(data: string | Uint8Array): Hash
    digest(): Uint8Array
    digest(encoding: 'hex' | 'base64'): string
  }
  export function createHash(algorithm: 'sha256'): Hash
  export function createHmac(algorithm: 'sha256', key: string | Uint8Array): Hash
  export function hash(algorithm: 'sha256', data: string | Uint8Array, encoding?: 'hex'): string
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean
}
