import { readFileSync } from 'node:fs'
import { invalid } from './problem.ts'

const FILE = new URL('../../../policies/start/start.yaml', import.meta.url)
const VERSION = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/

/** The text of a short, commented policy under a name of its own. */
export function newPolicySource(version: string): string {
  if (!VERSION.test(version))
    throw invalid('version_invalid', `'${version}' cannot name a policy: use letters, digits and . _ -, at most 64.`)
  return readFileSync(FILE, 'utf8').replaceAll('VERSION', version)
}
