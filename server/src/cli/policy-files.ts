import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { testsFault, uncoveredLine } from '../admin/check-policy-source.ts'
import { type CheckedSource, checkSource } from '../admin/examine-policy.ts'
import { checkSourceApart } from '../admin/examine-policy-apart.ts'
import { newPolicySource } from '../admin/new-policy.ts'
import { conflict, invalid, notFound } from '../admin/problem.ts'
import type { PolicyTestResult, TestCoverage } from '../core/decide/run-policy-tests.ts'
import { describeProblem, type PolicyProblem } from '../core/policy/check/policy-problem.ts'
import { diffPolicies, type PolicyChange } from '../core/policy/diff-policies.ts'
import type { PolicyDocument } from '../core/policy/policy-document.ts'
import type { Installation } from '../installation/installation.ts'
import { type CommandInput, defineCommand } from './command.ts'
import { readTarget, TARGET_USAGE, targetOptions } from './shared-options.ts'

interface CheckedFile {
  file: string
  version: string | null
  checksum: string | null
  problems: PolicyProblem[]
  warnings: PolicyProblem[]
  tests: PolicyTestResult[]
  coverage: TestCoverage | null
}

export const policyCheck = defineCommand<CheckedFile>({
  name: 'policy check',
  summary: 'Check a policy file and its tests; problems are listed with line and column',
  usage: 'policy check <file>',
  arguments: ['file'],
  prepare: (input) => withSource(input),
  runLocally: checkFile,
  run: async (_installation, input) => checkFile(input),
  render: (checked) =>
    renderProblems(checked) ??
    [
      ...renderWarnings(checked),
      `${checked.file}: ${checked.version} is valid; all ${checked.tests.length} tests pass`,
      ...coverageLines(checked),
      `checksum ${checked.checksum}`,
    ].join('\n'),
  isBad: (checked) => renderProblems(checked) !== undefined,
})

export const policyNew = defineCommand<{ file: string; version: string }>({
  name: 'policy new',
  summary: 'Write a short, commented policy file to start from; an existing file is left alone',
  usage: 'policy new <file>',
  arguments: ['file'],
  runLocally: writeStart,
  run: async (_installation, input) => writeStart(input),
  render: ({ file }) => `Wrote ${file}. Edit it, then run: policy check ${file}`,
})

export const policyTest = defineCommand<CheckedFile>({
  name: 'policy test',
  summary: 'Run the tests of a policy file and list their results',
  usage: 'policy test <file>',
  arguments: ['file'],
  prepare: (input) => withSource(input),
  runLocally: checkFile,
  run: async (_installation, input) => checkFile(input),
  render: (checked) =>
    checked.tests.length === 0
      ? renderProblems(checked)!
      : [...checked.tests.map(renderTest), ...coverageLines(checked)].join('\n'),
  isBad: (checked) => renderProblems(checked) !== undefined,
})

interface PolicyDifference {
  before: Pick<ComparedPolicy, 'version' | 'checksum'>
  after: Pick<ComparedPolicy, 'version' | 'checksum'>
  changes: PolicyChange[]
}

export const policyDiff = defineCommand<PolicyDifference>({
  name: 'policy diff',
  summary: 'Compare two policies; each is a file or a version',
  usage: `policy diff <before> <after> ${TARGET_USAGE}`,
  arguments: ['before', 'after'],
  options: targetOptions,
  prepare: withSources,
  runLocally({ options, positionals }) {
    const { before, after } = options
    if (before === undefined || after === undefined) return undefined
    const [first, second] = [before, after].map((source) => checkSource(String(source)))
    return compare(policyInFile(positionals[0]!, first!), policyInFile(positionals[1]!, second!))
  },
  async run(installation, input) {
    const before = await findCompared(installation, input, 'before')
    const after = await findCompared(installation, input, 'after')
    return compare(before, after)
  },
  render: ({ before, after, changes }) =>
    changes.length === 0
      ? `${before.version} and ${after.version} decide alike: there is no difference.`
      : changes.map(renderChange).join('\n'),
})

/** Reads the policy file that the first argument names and adds its text to the input as the option `source`. */
export function withSource(input: CommandInput): CommandInput {
  return { ...input, options: { ...input.options, source: readSource(input.positionals[0]!) } }
}

/** Lists the problems of a checked policy file, one line each, starting with the position; undefined if it has none. */
export function renderProblems({
  file,
  problems,
  tests,
}: Pick<CheckedFile, 'file' | 'problems' | 'tests'>): string | undefined {
  if (problems.length > 0) return problems.map((problem) => `${file}:${describeProblem(problem)}`).join('\n')
  const testProblem = testsFault(tests)
  return testProblem && `${file}: ${testProblem}`
}

/** Lists what the checker warns of in a policy file, one line each, starting with the position. */
export function renderWarnings({ file, warnings }: Pick<CheckedFile, 'file' | 'warnings'>): string[] {
  return warnings.map((warning) => `${file}:${describeProblem(warning)}`)
}

/** Checks the policy that `withSource` added to the input, and runs its tests. */
export function checkFile({ options, positionals }: CommandInput): CheckedFile {
  const { document, ...checked } = checkSource(String(options.source))
  return { file: positionals[0]!, version: document?.version ?? null, ...checked }
}

interface ComparedPolicy {
  version: string
  checksum: string
  document: PolicyDocument
}

function compare(before: ComparedPolicy, after: ComparedPolicy): PolicyDifference {
  const nameOf = ({ version, checksum }: ComparedPolicy) => ({ version, checksum })
  return { before: nameOf(before), after: nameOf(after), changes: diffPolicies(before.document, after.document) }
}

function policyInFile(file: string, { document, checksum, problems }: CheckedSource): ComparedPolicy {
  if (!document || checksum === null) throw invalid('policy_invalid', renderProblems({ file, problems, tests: [] })!)
  return { version: document.version, checksum, document }
}

async function findCompared(
  installation: Installation,
  { options, positionals }: CommandInput,
  which: 'before' | 'after',
): Promise<ComparedPolicy> {
  const name = positionals[which === 'before' ? 0 : 1]!
  const target = await readTarget(installation, options)
  if (options[which] !== undefined) {
    // This may be the process of the service: a running one carries out commands on its embedded database.
    return policyInFile(name, await checkSourceApart(installation.threads, String(options[which]), target))
  }
  const policy = await installation.stores[target.environment].policies.byVersion(target.organizationId, name)
  if (!policy)
    throw notFound('policy_not_found', `${name} is neither a file here nor a policy in ${target.environment}.`)
  return { version: policy.version, checksum: policy.checksum, document: JSON.parse(policy.document) }
}

/** Adds the text of each argument that is a file as the options `before` and `after`. */
function withSources(input: CommandInput): CommandInput {
  const [before, after] = input.positionals.map(readSourceOrVersion)
  return { ...input, options: { ...input.options, before, after } }
}

/** Reads a policy file; undefined for what is no file and does not look like one: it is the version of a stored policy. */
export function readSourceOrVersion(name: string): string | undefined {
  try {
    return readSource(name)
  } catch (problem) {
    if (/[/\\]|\.(ya?ml|json)$/.test(name)) throw problem
    return undefined
  }
}

/** Writes the start of a policy, whose version is the name of its file. */
function writeStart({ positionals }: CommandInput): { file: string; version: string } {
  const file = positionals[0]!
  const version = basename(file).replace(/\.ya?ml$/, '')
  writeNew(file, newPolicySource(version))
  return { file, version }
}

function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' })
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST'
    throw isThere
      ? conflict('file_exists', `${file} exists already.`)
      : invalid('file_unwritable', `${file} cannot be written.`)
  }
}

function readSource(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw invalid('file_unreadable', `${file} cannot be read.`)
  }
}

function coverageLines({ coverage }: Pick<CheckedFile, 'coverage'>): string[] {
  const line = coverage ? uncoveredLine(coverage) : undefined
  return line === undefined ? [] : [line]
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
