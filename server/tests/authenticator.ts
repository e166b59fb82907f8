/** An operator's authenticator app. */
import assert from 'node:assert/strict'
import { codeStep, oneTimeCode } from '../src/security/one-time-code.ts'

/**
 * Shows codes of a secret, each once: the code of this step of 30 seconds, then that of the next one. Each is accepted
 * for at least 30 seconds more, which a command on a busy machine may need.
 */
export class Authenticator {
  readonly #secret: string
  #lastStep = 0

  constructor(secret: string) {
    this.#secret = secret
  }

  /** The next code that was not shown before. */
  next(nowMs = Date.now()): string {
    const step = Math.max(this.#lastStep + 1, codeStep(nowMs))
    assert.ok(step <= codeStep(nowMs) + 1, 'the test asks for more codes than an operator has in this time')
    this.#lastStep = step
    return oneTimeCode(this.#secret, step)
  }
}
