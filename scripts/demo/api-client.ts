/** The keys that the sample organization uses, by the program that has them. */
export type KeyName = 'backend' | 'servicing' | 'cases' | 'analytics'

/** Calls the sandbox API over HTTP, as the programs of the sample organization would. */
export class ApiClient {
  readonly #url: string
  readonly #keys: Readonly<Record<KeyName, string>>

  constructor(url: string, keys: Readonly<Record<KeyName, string>>) {
    this.#url = url
    this.#keys = keys
  }

  /** Sends a request that must succeed, under an idempotency key if one is given. */
  async post<Answer>(key: KeyName, path: string, { body, once }: { body?: unknown; once?: string }): Promise<Answer> {
    const { status, text } = await this.send(key, 'POST', path, { body, ...(once && { once }) })
    if (status >= 300) throw new Error(`POST ${path} was answered with ${status}: ${text}`)
    return JSON.parse(text) as Answer
  }

  /** Sends a request whatever its answer is; some requests of the sample are mistakes on purpose. */
  async send(
    key: KeyName,
    method: 'GET' | 'POST',
    path: string,
    { body, once }: { body?: unknown; once?: string } = {},
  ): Promise<{ status: number; text: string }> {
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        Authorization: `Bearer ${this.#keys[key]}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(once && { 'Idempotency-Key': once }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }
}
