import {
  activatePolicy,
  approvePolicy,
  type PolicyAct,
  type PolicyStanding,
  proposePolicy,
  rejectPolicy,
} from '../admin/manage-policies.ts'
import type { Installation } from '../service/installation.ts'
import type { ListedPolicy, PolicyStep, StoredPolicy } from '../store/queries/policies.ts'
import {
  actOptions,
  actorNames,
  environmentOption,
  organizationOption,
  readPlace,
  readPolicyAct,
} from './acting-operator.ts'
import { type CommandInput, defineCommand, isProblem, type Problem, renderTable } from './command.ts'
import { checkFile, renderProblems, withSource } from './policy-files.ts'

const ACT_USAGE = '--as <email> --reason <text> [--org <org>] [--environment sandbox|production]'
const policyActOptions = { ...actOptions, environment: environmentOption }
const CHECKSUM_SHOWN = 12

type PolicyLine = ListedPolicy & { author: string }

export const policyList = defineCommand<PolicyLine[]>({
  name: 'policy list',
  summary: 'List policies and where they stand',
  usage: 'policy list [--org <org>] [--environment sandbox|production]',
  options: { org: organizationOption, environment: environmentOption },
  async run(installation, { options }) {
    const place = await readPlace(installation, options)
    if (isProblem(place)) return place
    const policies = await installation.stores[place.environment].listPolicies(place.organizationId)
    const nameOf = await actorNames(installation, place.organizationId)
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
  summary: 'Show a policy as its author wrote it, and what was done with it',
  usage: 'policy show <version> [--org <org>] [--environment sandbox|production]',
  arguments: ['version'],
  options: { org: organizationOption, environment: environmentOption },
  async run(installation, { options, positionals }) {
    const place = await readPlace(installation, options)
    if (isProblem(place)) return place
    const store = installation.stores[place.environment]
    const policy = await store.policyByVersion(place.organizationId, positionals[0]!)
    if (!policy)
      return { problem: `there is no policy ${positionals[0]} in ${place.environment}: policy list shows them` }
    const steps = await store.policySteps(place.organizationId, policy.id)
    const nameOf = await actorNames(installation, place.organizationId)
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

export const policyPropose = defineCommand<PolicyStanding>({
  name: 'policy propose',
  summary: 'Hand in a policy file for approval; from then on it never changes',
  usage: `policy propose <file> ${ACT_USAGE}`,
  arguments: ['file'],
  options: policyActOptions,
  prepare(input) {
    const read = withSource(input)
    const problem = isProblem(read) ? read.problem : renderProblems(checkFile(read))
    return problem === undefined ? read : { problem }
  },
  run: (installation, input) =>
    act(installation, input, (policyAct) => proposePolicy(installation, policyAct, String(input.options.source))),
  render: ({ version, environment, checksum }) =>
    `Proposed ${version} in ${environment}; checksum ${checksum}.\nSomebody else approves it: policy approve ${version}`,
})

export const policyApprove = defineCommand<PolicyStanding>({
  name: 'policy approve',
  summary: 'Approve a proposed policy; its author cannot',
  usage: `policy approve <version> ${ACT_USAGE}`,
  arguments: ['version'],
  options: policyActOptions,
  run: (installation, input) =>
    act(installation, input, (policyAct) => approvePolicy(installation, policyAct, input.positionals[0]!)),
  render: ({ version, environment, checksum }) =>
    `Approved ${version} in ${environment}; checksum ${checksum}.\nTo put it into force: policy activate ${version}`,
})

export const policyReject = defineCommand<PolicyStanding>({
  name: 'policy reject',
  summary: 'Turn a policy down for good, before it was ever active',
  usage: `policy reject <version> ${ACT_USAGE}`,
  arguments: ['version'],
  options: policyActOptions,
  run: (installation, input) =>
    act(installation, input, (policyAct) => rejectPolicy(installation, policyAct, input.positionals[0]!)),
  render: ({ version, environment }) => `Rejected ${version} in ${environment}.`,
})

export const policyActivate = defineCommand<PolicyStanding>({
  name: 'policy activate',
  summary: 'Put an approved policy into force, or go back to a retired one',
  usage: `policy activate <version> ${ACT_USAGE}`,
  arguments: ['version'],
  options: policyActOptions,
  run: (installation, input) =>
    act(installation, input, (policyAct) => activatePolicy(installation, policyAct, input.positionals[0]!)),
  render: ({ version, environment, replaced }) =>
    `${version} decides in ${environment} from now on${replaced ? `; ${replaced} is retired` : ''}.`,
})

async function act(
  installation: Installation,
  { options }: CommandInput,
  take: (policyAct: PolicyAct) => Promise<PolicyStanding | Problem>,
): Promise<PolicyStanding | Problem> {
  const policyAct = await readPolicyAct(installation, options)
  return isProblem(policyAct) ? policyAct : take(policyAct)
}
