import { describeApi } from '../server/src/api/openapi/openapi.ts'
import { VERSION } from '../server/src/version.ts'

/** The text of `openapi.json`: the published contract, with the addresses of a local installation. */
export function publishedOpenapi(): string {
  const servers = { sandbox: 'http://127.0.0.1:4010', production: 'http://127.0.0.1:4020' }
  return `${JSON.stringify(describeApi({ version: VERSION, servers }), null, 2)}\n`
}
