/** An OpenID Connect provider on a loopback port that signs a person in at once, and lies as a test tells it to. */
import { createHmac, generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const ACCESS_TOKEN = 'an-access-token'
const KEY_ID = 'first'

/** What a test changes of an honest answer. */
export interface Lies {
  /** Claims of the ID token in place of the honest ones; undefined leaves one out. */
  claims?: Record<string, unknown>
  header?: Record<string, unknown>
  /** Signs `header.payload` in place of the provider's key. */
  signature?: (input: string) => string
  userInfo?: Record<string, unknown>
}

/** A running provider. */
export interface ForgingProvider {
  issuer: string
  clientId: string
  clientSecret: string
  lies: Lies
  /** Replaces the key that the provider publishes and signs with. */
  rotateKey(): void
  close(): Promise<void>
}

/** Starts a provider that takes any code any number of times, with the nonce of the authorization as the code. */
export async function startForgingProvider(): Promise<ForgingProvider> {
  let [key, keyId] = [newKey(), KEY_ID]
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider: ForgingProvider = {
    issuer,
    clientId: 'verdigraph',
    clientSecret: 'a secret of a test',
    lies: {},
    rotateKey: () => {
      ;[key, keyId] = [newKey(), 'second']
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, issuer)
    if (pathname === '/auth') {
      const back = new URL(searchParams.get('redirect_uri')!)
      back.searchParams.set('code', searchParams.get('nonce')!)
      back.searchParams.set('state', searchParams.get('state')!)
      response.writeHead(302, { Location: back.href }).end()
      return
    }
    const body = await bodyOf(request)
    const answers: Record<string, () => object> = {
      '/.well-known/openid-configuration': () => ({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256'],
      }),
      '/jwks': () => ({ keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: keyId, use: 'sig', alg: 'RS256' }] }),
      '/token': () => ({
        access_token: ACCESS_TOKEN,
        token_type: 'Bearer',
        id_token: idToken(provider, { key: key.privateKey, keyId, nonce: body.get('code')! }),
      }),
      '/userinfo': () => ({ sub: 'person', ...provider.lies.userInfo }),
    }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(answers[pathname]?.() ?? {}))
  }
  return provider
}

/** The hash of an access token in an ID token that SHA-256 signs: the left half, in base64url. */
export function accessTokenHash(token = ACCESS_TOKEN): string {
  return hash('sha256', token, 'buffer').subarray(0, 16).toString('base64url')
}

/** Signs as HS256 does, with a text that a stranger may know. */
export function signedWith(secret: string): (input: string) => string {
  return (input) => createHmac('sha256', secret).update(input).digest('base64url')
}

/** A key that the provider does not publish. */
export function foreignSignature(): (input: string) => string {
  const { privateKey } = newKey()
  return (input) => sign('sha256', Buffer.from(input), privateKey).toString('base64url')
}

function idToken(
  { issuer, clientId, lies }: ForgingProvider,
  { key, keyId, nonce }: { key: KeyObject; keyId: string; nonce: string },
): string {
  const now = Math.floor(Date.now() / 1_000)
  const honest = {
    iss: issuer,
    sub: 'person',
    aud: clientId,
    nonce,
    iat: now,
    exp: now + 300,
    email: 'person@example.com',
    email_verified: true,
    name: 'Person',
    groups: ['staff'],
    at_hash: accessTokenHash(),
  }
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const header = { alg: 'RS256', typ: 'JWT', kid: keyId, ...lies.header }
  const input = `${encode(header)}.${encode({ ...honest, ...lies.claims })}`
  const signature = lies.signature?.(input) ?? sign('sha256', Buffer.from(input), key).toString('base64url')
  return `${input}.${signature}`
}

async function bodyOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return new URLSearchParams(text)
}

function newKey() {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 })
}
