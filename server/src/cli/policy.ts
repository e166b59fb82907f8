import type { EnvironmentAct, Reasoned } from '../admin/act.ts'
import { findPolicy } from '../admin/find-policy.ts'
import {
  activatePolicy,
  approvePolicy,
  type PolicyStanding,
  proposePolicy,
  rejectPolicy,
} from '../admin/manage-policies.ts'
import { invalid } from '../admin/problem.ts'
import type { Installation } from '../installation/installation.ts'
import type { ListedPolicy, PolicyStep, StoredPolicy } from '../store/environment/policies.ts'
import { type CommandInput, defineCommand, renderTable } from './command.ts'
import { checkFile, renderProblems, renderWarnings, withSource } from './policy-files.ts'
import {
  actorNames,
  environmentOption,
  operatorOptions,
  readEnvironment,
  readOperatorActIn,
  readSoleAct,
  readTarget,
  TARGET_USAGE,
  targetOptions,
} from './shared-options.ts'

const ACT_USAGE = `--as <email> --code <code> --reason <text> ${TARGET_USAGE}`
const SOLE_ACT_USAGE = `--reason <text> [--as <email> --code <code>] ${TARGET_USAGE}`
const policyActOptions = { ...operatorOptions, environment: environmentOption }
const CHECKSUM_SHOWN = 12

type PolicyWithAuthor = ListedPolicy & { author: string }

export const policyList = defineCommand<PolicyWithAuthor[]>({
  name: 'policy list',
  summary: 'List policies with their states',
  usage: `policy list ${TARGET_USAGE}`,
  options: targetOptions,
  async run(installation, { options }) {
    const target = await readTarget(installation, options)
    const policies = await installation.stores[target.environment].policies.list(target.organizationId)
    const nameOf = await actorNames(installation, target.organizationId)
    return policies.map((policy) => ({ ...policy, author: nameOf(policy.author_id) }))
  },
  render: (policies) =>
    renderTable(
      ['VERSION', 'STATE', 'AUTHOR', 'PROPOSED', 'CHECKSUM'],
      policies.map(({ version, state, author, created_at, checksum }) => [
        version,
        state,
        author,
        created_at,
        checksum.slice(0, CHECKSUM_SHOWN),
      ]),
    ),
})

type ShownPolicy = Omit<StoredPolicy, 'document' | 'steps_taken'> & {
  steps: (Omit<PolicyStep, 'evidence'> & { evidence: unknown; by: string })[]
}

export const policyShow = defineCommand<ShownPolicy>({
  name: 'policy show',
  summary: 'Show the source of a policy and the steps taken on it',
  usage: `policy show <version> ${TARGET_USAGE}`,
  arguments: ['version'],
  options: targetOptions,
  async run(installation, { options, positionals }) {
    const target = await readTarget(installation, options)
    const policy = await findPolicy(installation, target, positionals[0]!)
    const steps = await installation.stores[target.environment].policies.steps(target.organizationId, policy.id)
    const nameOf = await actorNames(installation, target.organizationId)
    const { document: _document, steps_taken: _count, ...shown } = policy
    return {
      ...shown,
      steps: steps.map((step) => ({ ...step, evidence: JSON.parse(step.evidence), by: nameOf(step.actor_id) })),
    }
  },
  render: ({ version, state, checksum, source, steps }) =>
    [
      source.trimEnd(),
      '',
      `# ${version} is ${state}; checksum ${checksum}`,
      ...renderTable(
        ['STEP', 'BY', 'AT', 'WHY'],
        steps.map(({ step, by, taken_at, reason }) => [step, by, taken_at, reason]),
      )
        .split('\n')
        .map((line) => `# ${line}`),
    ].join('\n'),
})

/** A proposed policy, with what the checker warns of, one line each. */
type ProposedPolicy = PolicyStanding & { warnings: string[] }

export const policyPropose = defineCommand<ProposedPolicy>({
  name: 'policy propose',
  summary: 'Propose a policy file for approval; a proposed version cannot be changed',
  usage: `policy propose <file> ${ACT_USAGE}`,
  arguments: ['file'],
  options: policyActOptions,
  prepare(input) {
    const read = withSource(input)
    const checked = checkFile(read)
    const problem = renderProblems(checked)
    if (problem !== undefined) throw invalid('policy_invalid', problem)
    return { ...read, options: { ...read.options, warnings: renderWarnings(checked).join('\n') } }
  },
  async run(installation, input) {
    const { source, warnings } = input.options
    const proposed = await proposePolicy(installation, await readOperatorActIn(installation, input), String(source))
    return { ...proposed, warnings: warnings ? String(warnings).split('\n') : [] }
  },
  render: ({ version, environment, checksum, warnings }) =>
    [
      ...warnings,
      `Proposed ${version} in ${environment}; checksum ${checksum}.`,
      `Next, another operator runs: policy approve ${version}`,
    ].join('\n'),
})

export const policyApprove = defineCommand<PolicyStanding>({
  name: 'policy approve',
  summary: 'Approve a proposed policy; its author may not',
  usage: `policy approve <version> ${ACT_USAGE}`,
  arguments: ['version'],
  options: policyActOptions,
  async run(installation, input) {
    const act = await readOperatorActIn(installation, input)
    return approvePolicy(installation, act, { version: input.positionals[0]! })
  },
  render: ({ version, environment, checksum }) =>
    `Approved ${version} in ${environment}; checksum ${checksum}.\nNext: policy activate ${version}`,
})

export const policyReject = defineCommand<PolicyStanding>({
  name: 'policy reject',
  summary: 'Reject a policy that was never active; this is final',
  usage: `policy reject <version> ${SOLE_ACT_USAGE}`,
  arguments: ['version'],
  options: policyActOptions,
  async run(installation, input) {
    return rejectPolicy(installation, await readActAlone(installation, input), input.positionals[0]!)
  },
  render: ({ version, environment }) => `Rejected ${version} in ${environment}.`,
})

export const policyActivate = defineCommand<PolicyStanding>({
  name: 'policy activate',
  summary: 'Activate an approved policy, or go back to a retired one',
  usage: `policy activate <version> ${SOLE_ACT_USAGE}`,
  arguments: ['version'],
  options: policyActOptions,
  async run(installation, input) {
    return activatePolicy(installation, await readActAlone(installation, input), input.positionals[0]!)
  },
  render: ({ version, environment, replaced }) =>
    `${version} decides in ${environment} from now on${replaced ? `; ${replaced} is retired` : ''}.`,
})

/** Reads the act of a step that one person may take. */
async function readActAlone(installation: Installation, input: CommandInput): Promise<Reasoned<EnvironmentAct>> {
  const environment = readEnvironment(input.options)
  return { environment, ...(await readSoleAct(installation, input)) }
}
