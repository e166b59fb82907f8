import type { ClientAuth, Configuration, IDToken, UserInfoResponse } from 'openid-client'
import type { OidcSettings } from '../../config.ts'
import { normalizedEmail } from '../../core/person-rules.ts'
import type { ProvedIdentity } from '../../sign-in/single-sign-on.ts'
import { checkIdToken } from './check-id-token.ts'

/** What the browser keeps while its user is at the provider. */
export interface PendingSignIn {
  state: string
  nonce: string
  codeVerifier: string
}

/** The provider gave no usable answer, or an answer that proves nothing; `cause` says why, for the log. */
export class OidcFailure extends Error {
  override name = 'OidcFailure'
}

/** How long the provider may take for one answer. */
const ANSWER_WITHIN_SECONDS = 10
/** Keys and addresses of the provider are read again after this time. */
const DISCOVERY_MS = 3_600_000

/** The provider of the settings, as this installation calls it: authorization code flow with PKCE, state and nonce. */
export class OidcClient {
  readonly #settings: OidcSettings
  readonly #redirectUri: () => string
  readonly #nowMs: () => number
  #discovered: { configuration: Promise<Configuration>; untilMs: number } | undefined

  constructor({
    settings,
    redirectUri,
    nowMs,
  }: {
    settings: OidcSettings
    redirectUri: () => string
    nowMs: () => number
  }) {
    this.#settings = settings
    this.#redirectUri = redirectUri
    this.#nowMs = nowMs
  }

  /** The address that the browser is sent to, and what it has to bring back. */
  async begin(): Promise<{ url: string; pending: PendingSignIn }> {
    const client = await loadClient()
    const configuration = await this.#discover()
    const pending = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      codeVerifier: client.randomPKCECodeVerifier(),
    }
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#redirectUri(),
      scope: this.#scopes(configuration),
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(pending.codeVerifier),
      code_challenge_method: 'S256',
    })
    return { url: url.href, pending }
  }

  /** Exchanges the code of a callback for the identity of the person. */
  async finish(query: string, { state, nonce, codeVerifier }: PendingSignIn): Promise<ProvedIdentity> {
    const client = await loadClient()
    const configuration = await this.#discover()
    try {
      // The address that was registered, and not the one of the request: a reverse proxy may have changed that.
      const callback = new URL(this.#redirectUri())
      callback.search = query
      const tokens = await client.authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      })
      const idToken = tokens.claims()!
      const received = { idToken: tokens.id_token!, claims: idToken, accessToken: tokens.access_token }
      checkIdToken(received, this.#nowMs())
      const userInfo = configuration.serverMetadata().userinfo_endpoint
        ? await client.fetchUserInfo(configuration, tokens.access_token, idToken.sub)
        : undefined
      return this.#describe(idToken, userInfo)
    } catch (error) {
      throw new OidcFailure('the identity provider did not confirm this sign-in', { cause: error })
    }
  }

  #describe(idToken: IDToken, userInfo: UserInfoResponse | undefined): ProvedIdentity {
    const claims: Record<string, unknown> = { ...idToken, ...userInfo }
    const { name } = claims
    // From one answer: that an e-mail is verified says nothing of the e-mail in another answer.
    const verified = [userInfo, idToken].find(
      (source) => typeof source?.email === 'string' && source.email_verified === true,
    )
    const groups = claims[this.#settings.groupsClaim]
    return {
      issuer: idToken.iss,
      subject: idToken.sub,
      email: verified ? normalizedEmail(String(verified.email)) : null,
      name: typeof name === 'string' ? name.trim() : '',
      // A person in one group may have a text instead of a list.
      groups: [groups].flat().filter((group) => typeof group === 'string'),
    }
  }

  /** Some providers list the groups only if a scope of that name is asked for; others refuse scopes they do not know. */
  #scopes(configuration: Configuration): string {
    const known = configuration.serverMetadata().scopes_supported ?? []
    const { groupsClaim } = this.#settings
    return ['openid', 'profile', 'email', ...(known.includes(groupsClaim) ? [groupsClaim] : [])].join(' ')
  }

  #discover(): Promise<Configuration> {
    if (this.#discovered && this.#nowMs() < this.#discovered.untilMs) return this.#discovered.configuration
    const configuration = discover(this.#settings)
    const discovered = { configuration, untilMs: this.#nowMs() + DISCOVERY_MS }
    this.#discovered = discovered
    configuration.catch(() => {
      if (this.#discovered === discovered) this.#discovered = undefined
    })
    return configuration
  }
}

async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<Configuration> {
  const client = await loadClient()
  try {
    const [basic, post] = [client.ClientSecretBasic(clientSecret), client.ClientSecretPost(clientSecret)]
    // Without a list of methods, a provider takes HTTP Basic (OpenID Connect Discovery 1.0, section 3).
    const authenticate: ClientAuth = (server, ...request) => {
      const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
      return (methods.includes('client_secret_basic') ? basic : post)(server, ...request)
    }
    const configuration = await client.discovery(new URL(issuer), clientId, clientSecret, authenticate, {
      timeout: ANSWER_WITHIN_SECONDS,
      execute: [
        // The signature of every ID token, although TLS vouches for the token endpoint already.
        client.enableNonRepudiationChecks,
        // The settings take plain HTTP only with a loopback address.
        ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
      ],
    })
    configuration.timeout = ANSWER_WITHIN_SECONDS
    return configuration
  } catch (error) {
    throw new OidcFailure('the identity provider cannot be reached', { cause: error })
  }
}

// Imported on first use, because a start without single sign-on must not wait for it.
const loadClient = () => import('openid-client')
