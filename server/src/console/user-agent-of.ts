import type { IncomingHttpHeaders } from 'node:http'

/** What is kept of the name of a browser. */
const USER_AGENT_CHARACTERS_MAX = 400

/** The name that a browser gives itself, as the list of sessions shows it. */
export function userAgentOf({ headers }: { headers: IncomingHttpHeaders }): string {
  return (headers['user-agent'] ?? '').slice(0, USER_AGENT_CHARACTERS_MAX)
}
