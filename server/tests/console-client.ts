/** A browser of the console without its page: keeps the session cookie, and sends what a browser sends. */
import { addOperator } from '../src/admin/manage-operators.ts'
import type { Installation } from '../src/installation/installation.ts'
import { hashPassword } from '../src/security/password.ts'
import type { Role } from '../src/store/control/operators.ts'
import { byService } from './acts.ts'
import { addAccount, bindAccount } from './people.ts'

/** An answer of the console's backend. */
export interface ConsoleAnswer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read outputs of every shape.
  body: any
}

/** A service whose console is called: one of this process, or another process on an installation that is open here. */
export interface ConsoleHost {
  service: { urls: { console?: string | undefined }; installation: Installation }
}

/** A password that is on no list. */
export const PASSWORD = 'a quiet green ledger 42'

/** One browser: its cookie is kept between calls. */
export class ConsoleClient {
  readonly url: string
  cookie: string | undefined
  /** The cookie by which the browser is known after a sign-in; undefined makes it a stranger's. */
  device: string | undefined

  constructor(api: ConsoleHost) {
    this.url = api.service.urls.console!
  }

  /** Calls an operation; `path` is `open/<name>`, `account/<name>` or `<organization>/<environment>/<name>`. */
  async call(path: string, input: unknown = {}, headers: Record<string, string> = {}): Promise<ConsoleAnswer> {
    const response = await fetch(`${this.url}/api/${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Origin: this.url,
        'Sec-Fetch-Site': 'same-origin',
        Cookie: [this.cookie, this.device].filter(Boolean).join('; '),
        ...headers,
      },
      body: typeof input === 'string' ? input : JSON.stringify(input),
    })
    for (const set of response.headers.getSetCookie()) {
      const pair = /Max-Age=0/.test(set) ? undefined : set.split(';', 1)[0]
      if (set.startsWith('verdigraph-device=') || set.startsWith('__Host-verdigraph-device=')) this.device = pair
      else this.cookie = pair
    }
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  signIn(email: string, password = PASSWORD): Promise<ConsoleAnswer> {
    return this.call('open/sign-in.give-password', { email, password })
  }
}

/** The stored hash names its cost, so signing in with this one takes a hundredth of the time. */
const CHEAP = { memory: 64, passes: 1, parallelism: 1 }

/** Adds an operator with an account, whose password is `PASSWORD`, and returns a browser that is signed in. */
export async function signedInOperator(
  api: ConsoleHost,
  { organizationId, email, role }: { organizationId: string; email: string; role: Role },
): Promise<ConsoleClient & { operatorId: string; accountId: string }> {
  const { installation } = api.service
  const operator = await addOperator(installation, byService(organizationId), { email, name: 'Test', role })
  const accountId = installation.newId('acc')
  const now = new Date(installation.nowMs()).toISOString()
  await addAccount(installation, {
    id: accountId,
    email,
    name: 'Test',
    password_hash: await hashPassword(PASSWORD, CHEAP),
    created_at: now,
  })
  await bindAccount(installation, operator, accountId)
  const client = new ConsoleClient(api)
  const answer = await client.signIn(email)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return Object.assign(client, { operatorId: operator.id, accountId })
}
