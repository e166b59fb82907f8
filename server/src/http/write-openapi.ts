/** Writes openapi.json at the root of the repository: the published contract, kept under review like code. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../version.ts'
import { describeApi } from './openapi.ts'

/** The description as it is published: with the addresses of a local installation. */
export function publishedDescription(): string {
  const servers = { sandbox: 'http://127.0.0.1:4010', production: 'http://127.0.0.1:4020' }
  return `${JSON.stringify(describeApi({ version: VERSION, servers }), null, 2)}\n`
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, '../../../openapi.json'), publishedDescription())
