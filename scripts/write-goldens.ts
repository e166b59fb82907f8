/** Writes every file of the repository that is generated from code. `npm run check:goldens` fails while one is stale. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { policyJsonSchema } from '../server/src/core/policy/policy-document.ts'
import { publishedOpenapi } from './published-openapi.ts'
import { referencePages } from './reference/reference.ts'

const ROOT = join(import.meta.dirname, '..')
const REFERENCE = 'docs/reference'

const goldens: Record<string, string> = {
  'openapi.json': publishedOpenapi(),
  'policies/policy.schema.json': `${JSON.stringify(policyJsonSchema(), null, 2)}\n`,
}
for (const [file, text] of Object.entries(referencePages())) goldens[join(REFERENCE, file)] = text

// Everything in this folder is generated: a page that no generator writes any more goes.
rmSync(join(ROOT, REFERENCE), { recursive: true, force: true })
mkdirSync(join(ROOT, REFERENCE))
for (const [file, text] of Object.entries(goldens)) writeFileSync(join(ROOT, file), text)
