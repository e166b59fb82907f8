/// <reference path="./oidc-provider.d.ts" />
/** A real OpenID Connect provider on a loopback port, whose people sign in by choosing their name. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

/** A person that the provider knows. */
export interface Person {
  sub: string
  email: string
  email_verified: boolean
  name: string
  groups: string[]
}

/** A client that is registered at the provider. */
export interface RegisteredClient {
  client_id: string
  client_secret: string
  redirect_uris: string[]
}

/** A running provider. */
export interface IdentityProvider {
  issuer: string
  people: Map<string, Person>
  /** Replaces what the token endpoint answers; undefined leaves the answer alone. */
  rewriteTokens: ((answer: Record<string, unknown>) => Record<string, unknown>) | undefined
  close(): Promise<void>
}

/** Reserves a port, so that the issuer is known before its clients are. */
export async function startIdentityProvider(
  clients: (issuer: string) => RegisteredClient[],
): Promise<IdentityProvider> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const running: IdentityProvider = {
    issuer,
    people: new Map(),
    rewriteTokens: undefined,
    close: () => closeServer(server),
  }
  const provider = new Provider(issuer, configuration(running, clients(issuer)))
  const answer = provider.callback()
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith('/interaction/')) void interact(provider, running, request, response)
    else {
      if (request.url?.startsWith('/token') && running.rewriteTokens) rewriteBody(response, running.rewriteTokens)
      answer(request, response)
    }
  })
  return running
}

function configuration({ people }: IdentityProvider, clients: RegisteredClient[]): Record<string, unknown> {
  return {
    clients,
    claims: {
      openid: ['sub'],
      profile: ['name'],
      email: ['email', 'email_verified'],
      groups: ['groups'],
    },
    cookies: { keys: ['a key for the cookies of a test'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, sub: string) => {
      const person = people.get(sub)
      return person && { accountId: sub, claims: async () => ({ ...person }) }
    },
    pkce: { required: () => true },
  }
}

/** Shows the people to choose from; choosing one signs in and consents to everything that was asked for. */
async function interact(
  provider: Provider,
  { people }: IdentityProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chosen = new URL(request.url!, 'http://provider').searchParams.get('as')
  const { prompt, params, uid } = await provider.interactionDetails(request, response)
  if (!chosen && prompt.name === 'login') {
    const links = [...people.values()].map(
      ({ sub, name }) => `<p><a href="/interaction/${uid}?as=${encodeURIComponent(sub)}">${name}</a></p>`,
    )
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><title>Provider</title><h1>Who are you?</h1>${links.join('')}`)
    return
  }
  const accountId = chosen ?? ''
  const grant = new provider.Grant({ accountId, clientId: String(params.client_id) })
  grant.addOIDCScope(String(params.scope))
  const grantId = await grant.save()
  await provider.interactionFinished(request, response, { login: { accountId }, consent: { grantId } })
}

/** Replaces the JSON body of an answer before it is sent. */
function rewriteBody(
  response: ServerResponse,
  rewrite: (answer: Record<string, unknown>) => Record<string, unknown>,
): void {
  const end = response.end.bind(response) as (chunk?: unknown) => ServerResponse
  response.end = ((chunk?: unknown) => {
    if (typeof chunk !== 'string' && !Buffer.isBuffer(chunk)) return end(chunk)
    const text = JSON.stringify(rewrite(JSON.parse(String(chunk)) as Record<string, unknown>))
    response.setHeader('Content-Length', Buffer.byteLength(text))
    return end(text)
  }) as ServerResponse['end']
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
