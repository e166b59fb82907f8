import { readFileSync } from 'node:fs'
import { type CheckedPolicy, checkPolicySource, testsProblem } from '../admin/check-policy-source.ts'
import type { PolicyTestResult } from '../core/decide/run-policy-tests.ts'
import { diffPolicies, type PolicyChange } from '../core/policy/diff-policies.ts'
import type { PolicyDocument } from '../core/policy/policy-document.ts'
import { describeProblem, type PolicyProblem } from '../core/policy/policy-problem.ts'
import type { Installation } from '../service/installation.ts'
import { environmentOption, organizationOption, readPlace } from './acting-operator.ts'
import { type CommandInput, defineCommand, isProblem, type Problem } from './command.ts'

interface CheckedFile {
  file: string
  version: string | null
  checksum: string | null
  problems: PolicyProblem[]
  tests: PolicyTestResult[]
}

export const policyCheck = defineCommand<CheckedFile>({
  name: 'policy check',
  summary: 'Say whether a policy file is sound, with line and column of what is not',
  usage: 'policy check <file>',
  arguments: ['file'],
  prepare: (input) => withSource(input),
  runLocally: checkFile,
  run: async (_installation, input) => checkFile(input),
  render: (checked) =>
    renderProblems(checked) ??
    `${checked.file}: ${checked.version} is sound; all ${checked.tests.length} tests pass\nchecksum ${checked.checksum}`,
  isBad: (checked) => renderProblems(checked) !== undefined,
})

export const policyTest = defineCommand<CheckedFile>({
  name: 'policy test',
  summary: 'Run the tests that a policy file carries',
  usage: 'policy test <file>',
  arguments: ['file'],
  prepare: (input) => withSource(input),
  runLocally: checkFile,
  run: async (_installation, input) => checkFile(input),
  render: (checked) =>
    checked.tests.length === 0 ? renderProblems(checked)! : checked.tests.map(renderTest).join('\n'),
  isBad: (checked) => renderProblems(checked) !== undefined,
})

interface PolicyDifference {
  before: Pick<Side, 'version' | 'checksum'>
  after: Pick<Side, 'version' | 'checksum'>
  changes: PolicyChange[]
}

export const policyDiff = defineCommand<PolicyDifference>({
  name: 'policy diff',
  summary: 'Say what changes from one policy to another; each a file or a version',
  usage: 'policy diff <before> <after> [--org <org>] [--environment sandbox|production]',
  arguments: ['before', 'after'],
  options: { org: organizationOption, environment: environmentOption },
  prepare: withSources,
  runLocally({ options, positionals }) {
    const { before, after } = options
    if (before === undefined || after === undefined) return undefined
    return compare(sideOf(positionals[0]!, String(before)), sideOf(positionals[1]!, String(after)))
  },
  async run(installation, input) {
    const before = await findSide(installation, input, 'before')
    const after = await findSide(installation, input, 'after')
    return compare(before, after)
  },
  render: ({ before, after, changes }) =>
    changes.length === 0
      ? `${before.version} and ${after.version} decide alike: nothing differs.`
      : changes.map(renderChange).join('\n'),
})

/** Reads the policy file that a command names first, in the process that was called, because only it sees the file. */
export function withSource(input: CommandInput): CommandInput | Problem {
  const source = readSource(input.positionals[0]!)
  return isProblem(source) ? source : { ...input, options: { ...input.options, source } }
}

/** Everything wrong with a checked policy file, a line each, beginning with its place; nothing when it is sound. */
export function renderProblems({
  file,
  problems,
  tests,
}: Pick<CheckedFile, 'file' | 'problems' | 'tests'>): string | undefined {
  if (problems.length > 0) return problems.map((problem) => `${file}:${describeProblem(problem)}`).join('\n')
  const weak = testsProblem(tests)
  return weak && `${file}: ${weak}`
}

/** Checks the source that `withSource` has read. */
export function checkFile({ options, positionals }: CommandInput): CheckedFile {
  const checked = checkPolicySource(String(options.source))
  const file = positionals[0]!
  if ('problems' in checked) return { file, version: null, checksum: null, problems: checked.problems, tests: [] }
  const { policy, tests } = checked
  return { file, version: policy.document.version, checksum: policy.checksum, problems: [], tests }
}

interface Side {
  version: string
  checksum: string
  document: PolicyDocument
}

function compare(before: Side | Problem, after: Side | Problem): PolicyDifference | Problem {
  if (isProblem(before)) return before
  if (isProblem(after)) return after
  const nameOf = ({ version, checksum }: Side) => ({ version, checksum })
  return { before: nameOf(before), after: nameOf(after), changes: diffPolicies(before.document, after.document) }
}

function sideOf(file: string, source: string): Side | Problem {
  const checked: CheckedPolicy = checkPolicySource(source)
  if ('problems' in checked) return { problem: renderProblems({ file, problems: checked.problems, tests: [] })! }
  const { document, checksum } = checked.policy
  return { version: document.version, checksum, document }
}

async function findSide(
  installation: Installation,
  { options, positionals }: CommandInput,
  which: 'before' | 'after',
): Promise<Side | Problem> {
  const name = positionals[which === 'before' ? 0 : 1]!
  if (options[which] !== undefined) return sideOf(name, String(options[which]))
  const place = await readPlace(installation, options)
  if (isProblem(place)) return place
  const policy = await installation.stores[place.environment].policyByVersion(place.organizationId, name)
  if (!policy)
    return { problem: `${name} is neither a file here nor a policy in ${place.environment}: policy list shows them` }
  return { version: policy.version, checksum: policy.checksum, document: JSON.parse(policy.document) }
}

/** Reads those of the two that are files; the others are versions, which the installation knows. */
function withSources(input: CommandInput): CommandInput | Problem {
  const sources: Record<string, string> = {}
  for (const [index, which] of (['before', 'after'] as const).entries()) {
    const source = readSource(input.positionals[index]!)
    if (!isProblem(source)) sources[which] = source
    else if (/[/\\]|\.(ya?ml|json)$/.test(input.positionals[index]!)) return source
  }
  return { ...input, options: { ...input.options, ...sources } }
}

function readSource(file: string): string | Problem {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return { problem: `${file} cannot be read` }
  }
}

function renderTest({ name, failures }: PolicyTestResult): string {
  if (failures.length === 0) return `pass  ${name}`
  return [`FAIL  ${name}`, ...failures.map((failure) => `      ${failure}`)].join('\n')
}

function renderChange({ kind, path, before, after }: PolicyChange): string {
  const text = (value: unknown) => JSON.stringify(value)
  const what = { added: text(after), removed: text(before), changed: `${text(before)} → ${text(after)}` }
  return `${kind.padEnd(9)}  ${path}: ${kind === 'reordered' ? (after as string[]).join(', ') : what[kind]}`
}
