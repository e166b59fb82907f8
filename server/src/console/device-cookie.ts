import type { FastifyReply, FastifyRequest } from 'fastify'
import { DEVICE_SECONDS } from '../sign-in/known-devices.ts'

/** Reads and writes the cookie by which a browser is known, in which a person has signed in. It outlives the session. */
export class DeviceCookie {
  readonly #name: string
  readonly #isSecure: boolean

  constructor(consoleBaseUrl: string) {
    this.#isSecure = consoleBaseUrl.startsWith('https:')
    this.#name = this.#isSecure ? '__Host-verdigraph-device' : 'verdigraph-device'
  }

  /** What the browser sent. */
  read(request: FastifyRequest): string | undefined {
    return request.cookies[this.#name]
  }

  /** Hands the browser what it sends from now on. */
  write(reply: FastifyReply, value: string): void {
    reply.setCookie(this.#name, value, {
      httpOnly: true,
      // Lax, because a browser that comes from the identity provider has to send it too. It grants nothing by itself.
      sameSite: 'lax',
      path: '/',
      secure: this.#isSecure,
      maxAge: DEVICE_SECONDS,
    })
  }
}
