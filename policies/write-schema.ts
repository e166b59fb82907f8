/** Writes policy.schema.json from the schema that the engine validates with; a test fails while the two differ. */
import { writeFileSync } from 'node:fs'
import { policyJsonSchema } from '../server/src/core/policy/policy-document.ts'

writeFileSync(new URL('policy.schema.json', import.meta.url), `${JSON.stringify(policyJsonSchema(), null, 2)}\n`)
