import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { PolicyDocument } from '../src/core/policy/policy-document.ts'
import { compiledFile } from './sandbox-policy.ts'

const PAGE = readFileSync(new URL('../../docs/policies.md', import.meta.url), 'utf8')

/** The first example of a part of a policy in docs/policies.md. */
export function documentedPart<Name extends keyof PolicyDocument>(name: Name): NonNullable<PolicyDocument[Name]> {
  const block = new RegExp(`\`\`\`yaml\\n((?:[^\`]*\\n)?${name}:[\\s\\S]*?)\`\`\``).exec(PAGE)?.[1]
  if (block === undefined) throw new Error(`docs/policies.md has no example of ${name}`)
  return parse(block)[name]
}

/** The policy of a lender without bank data, to whose features the examples of the page refer. */
export function bureauPolicy() {
  return compiledFile(new URL('../../policies/bureau-snapshot-v1.yaml', import.meta.url))
}
