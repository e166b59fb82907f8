import type { Registry } from 'prom-client'

/** How long a page is served again. Prometheus reads it every few seconds at most. */
const KEPT_MS = 1_000

/**
 * The text that Prometheus reads, written at most once a second: writing it takes milliseconds, and callers need no key.
 * The bytes are shared by all answers.
 */
export class MetricsPage {
  readonly #registry: Registry
  readonly #nowMs: () => number
  #page: Promise<Buffer> | undefined
  #writtenAtMs = 0

  constructor(registry: Registry, nowMs: () => number = () => performance.now()) {
    this.#registry = registry
    this.#nowMs = nowMs
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** The page of this second; callers that come while it is being written wait for the same one. */
  read(): Promise<Buffer> {
    if (!this.#page || this.#nowMs() - this.#writtenAtMs >= KEPT_MS) {
      this.#writtenAtMs = this.#nowMs()
      this.#page = this.#write()
      // A page that could not be written is not kept.
      this.#page.catch(() => {
        this.#page = undefined
      })
    }
    return this.#page
  }

  async #write(): Promise<Buffer> {
    return Buffer.from(await this.#registry.metrics())
  }
}
