import type { FastifyReply, FastifyRequest } from 'fastify'
import { SESSION_SECONDS } from '../store/control/sessions.ts'

/** Reads and writes the cookie that holds the token of a session. */
export class SessionCookie {
  readonly #name: string
  readonly #isSecure: boolean

  /** `__Host-` binds the cookie to this host, but browsers accept it over https only. */
  constructor(consoleBaseUrl: string) {
    this.#isSecure = consoleBaseUrl.startsWith('https:')
    this.#name = this.#isSecure ? '__Host-verdigraph' : 'verdigraph'
  }

  /** The token that the browser sent. */
  read(request: FastifyRequest): string | undefined {
    return request.cookies[this.#name]
  }

  /** Hands a token to the browser; null removes the cookie. */
  write(reply: FastifyReply, token: string | null): void {
    reply.setCookie(this.#name, token ?? '', {
      httpOnly: true,
      sameSite: 'strict',
      path: '/',
      secure: this.#isSecure,
      maxAge: token === null ? 0 : SESSION_SECONDS,
    })
  }
}
