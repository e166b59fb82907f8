import { COMMENT_CHARACTERS_MAX, commentOnPolicy } from '../../admin/comment-on-policy.ts'
import { describePolicyChanges } from '../../admin/describe-policy-changes.ts'
import { checkSourceApart, examinePolicyApart } from '../../admin/examine-policy-apart.ts'
import { findPolicy } from '../../admin/find-policy.ts'
import { activatePolicy, approvePolicy, proposePolicy, rejectPolicy } from '../../admin/manage-policies.ts'
import { holds, isSamePerson } from '../../admin/permissions.ts'
import { FEATURE_CATALOGUE } from '../../core/facts/feature-catalogue.ts'
import { type PolicyDocument, policyJsonSchema } from '../../core/policy/policy-document.ts'
import { NOT_BLANK, Strict, Text } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { parseStored } from '../../core/stored-json.ts'
import { listOperators } from '../../store/control/operators.ts'
import type { StoredPolicy } from '../../store/environment/policies.ts'
import { defineOperation, type OperatorContext } from '../define-operation.ts'

const version = Type.String({ minLength: 1, maxLength: 200 })
const reason = Text(2_000, 'Why; recorded in the audit log.')
const source = Type.String({ minLength: 1, maxLength: 262_144 })

/** Lists the policies of the environment, newest first, with their states and authors. */
const listPolicies = defineOperation({
  summary: 'List the policies with their states',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle(context) {
    const { store, organizationId } = context
    const [policies, nameOf] = await Promise.all([store.policies.list(organizationId), peopleOf(context)])
    const active = policies.find(({ state }) => state === 'active')
    return {
      active: active ? await describeActive(context, active.version, nameOf) : null,
      policies: policies.map(({ id, version, model_version, checksum, state, author_id, created_at }) => ({
        id,
        version,
        model_version,
        checksum,
        state,
        created_at,
        author: nameOf(author_id),
      })),
    }
  },
})

/** Shows a policy: its document and text, what it changes against the active one, its steps, comments and approvers. */
const showPolicy = defineOperation({
  summary: 'Show a policy with its steps, comments and approvers',
  access: 'see the console',
  input: Strict({ version }),
  audit: [],
  async handle(context) {
    const { store, organizationId, act, input, installation } = context
    const policy = await findPolicy(installation, act, input.version)
    const { document, checksum } = policy
    const [steps, comments, active, nameOf, examined] = await Promise.all([
      store.policies.steps(organizationId, policy.id),
      store.policies.comments(organizationId, policy.id),
      store.policies.active(organizationId),
      peopleOf(context),
      examinePolicyApart(installation.threads, { document, checksum }, { organizationId }),
    ])
    const compared = await comparedWith(context, policy, active?.version)
    return {
      policy: describe(policy, nameOf),
      document: JSON.parse(document) as PolicyDocument,
      source: policy.source,
      active_version: active?.version ?? null,
      compared,
      tests: 'tests' in examined ? examined.tests : [],
      coverage: 'tests' in examined ? examined.coverage : null,
      unusable_because: 'faults' in examined ? examined.faults : null,
      steps: steps.map(({ step, reason: why, actor_id, taken_at, evidence }) => ({
        step,
        reason: why,
        by: nameOf(actor_id),
        at: taken_at,
        backtest_id: (JSON.parse(evidence) as { backtest?: { id: string } | null }).backtest?.id ?? null,
      })),
      comments: comments.map(({ id, body, actor_id, created_at }) => ({
        id,
        text: body,
        by: nameOf(actor_id),
        at: created_at,
      })),
      approvers: await approversOf(context, policy),
    }
  },
})

/** Checks the text of a draft, runs its tests and compares it with the active policy. */
const checkDraft = defineOperation({
  summary: 'Check the text of a policy and run its tests',
  access: proposePolicy.permission,
  input: Strict({ source }),
  audit: [],
  async handle({ store, organizationId, input, installation, signal }) {
    const checked = await checkSourceApart(installation.threads, input.source, { organizationId, signal })
    const { document, checksum, problems, warnings, tests, coverage } = checked
    const active = await store.policies.active(organizationId)
    const known = document && (await store.policies.byVersion(organizationId, document.version))
    return {
      problems,
      warnings,
      tests,
      coverage,
      checksum,
      document,
      version: document?.version ?? null,
      is_version_taken: Boolean(known),
      compared:
        document && active
          ? { version: active.version, ...describePolicyChanges(JSON.parse(active.document), document) }
          : null,
    }
  },
})

/** What an editor completes: the schema of policies and the catalogue of features. */
const showPolicyLanguage = defineOperation({
  summary: 'The schema of policies and the catalogue of features',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle() {
    return {
      schema: policyJsonSchema(),
      features: Object.entries(FEATURE_CATALOGUE).map(([name, { type, label, unit }]) => ({ name, type, label, unit })),
    }
  },
})

/** Proposes a draft. */
const proposePolicyOperation = defineOperation({
  summary: 'Propose a policy for approval',
  access: proposePolicy.permission,
  input: Strict({ source, reason }),
  audit: ['policy.proposed'],
  handle: ({ installation, act, input }) => proposePolicy(installation, act, input.source),
})

/** Adds a comment to a policy. */
const commentPolicy = defineOperation({
  summary: 'Comment on a policy',
  access: commentOnPolicy.permission,
  input: Strict({
    version,
    text: Type.String({ minLength: 1, maxLength: COMMENT_CHARACTERS_MAX, pattern: NOT_BLANK }),
  }),
  audit: ['policy.commented'],
  async handle({ installation, act, input }) {
    const { id } = await commentOnPolicy(installation, act, input)
    return { id }
  },
})

/** Approves a proposed policy with the backtest that the operator was shown. */
const approvePolicyOperation = defineOperation({
  summary: 'Approve a proposed policy',
  access: approvePolicy.permission,
  input: Strict({
    version,
    reason,
    shown_backtest: Type.Union([Type.String({ maxLength: 40 }), Type.Null()]),
  }),
  audit: ['policy.approved'],
  handle: ({ installation, act, input }) =>
    approvePolicy(installation, act, { version: input.version, shownBacktest: input.shown_backtest }),
})

/** Rejects a policy that was never active. */
const rejectPolicyOperation = defineOperation({
  summary: 'Reject a policy for good',
  access: rejectPolicy.permission,
  input: Strict({ version, reason }),
  audit: ['policy.rejected'],
  handle: ({ installation, act, input }) => rejectPolicy(installation, act, input.version),
})

/** Activates an approved policy, or goes back to a retired one. */
const activatePolicyOperation = defineOperation({
  summary: 'Activate an approved policy, or go back to a retired one',
  access: activatePolicy.permission,
  input: Strict({ version, reason }),
  audit: ['policy.activated', 'policy.retired'],
  handle: ({ installation, act, input }) => activatePolicy(installation, act, input.version),
})

/** Names people by their id; the installation itself and users of the operating system keep theirs. */
async function peopleOf({ installation, organizationId }: OperatorContext<unknown>): Promise<(id: string) => string> {
  const operators = await listOperators(installation.storage.control, organizationId)
  const names = new Map(operators.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? id
}

function describe(policy: StoredPolicy, nameOf: (id: string) => string) {
  const { id, version: name, model_version, checksum, state, author_id, created_at } = policy
  return { id, version: name, model_version, checksum, state, created_at, author: nameOf(author_id) }
}

/** What the active policy does in figures, and who approved and activated it; null if its document cannot be read. */
async function describeActive(
  { store, organizationId }: OperatorContext<unknown>,
  activeVersion: string,
  nameOf: (id: string) => string,
) {
  const policy = await store.policies.byVersion(organizationId, activeVersion)
  const document = policy && readDocument(policy.document)
  if (!document) return null
  const steps = await store.policies.steps(organizationId, policy.id)
  const newest = (wanted: string) => {
    const step = steps.findLast(({ step: taken }) => taken === wanted)
    return step ? { by: nameOf(step.actor_id), at: step.taken_at } : null
  }
  const rules = [document, ...(document.segments ?? [])].flatMap((part) => [
    ...(part.rules ?? []),
    ...(part.after_score ?? []),
    ...(part.tables ?? []).flatMap((table) => table.rows),
  ])
  return {
    version: policy.version,
    cutoff: document.verdicts.cutoff,
    tiers: document.tiers.map(({ tier }) => tier),
    characteristics: document.scorecard.characteristics.length,
    rules: rules.length,
    declining_rules: rules.filter(({ then }) => then === 'decline').length,
    reviewing_rules: rules.filter(({ then }) => then === 'manual_review').length,
    approved: newest('approved'),
    activated: newest('activated'),
  }
}

function readDocument(text: string): PolicyDocument | undefined {
  return parseStored(text) as PolicyDocument | undefined
}

/** What a policy changes: against the active one, or for the active one against the policy that it replaced. */
async function comparedWith(
  { store, organizationId }: OperatorContext<unknown>,
  policy: StoredPolicy,
  activeVersion: string | undefined,
) {
  const base =
    activeVersion === undefined || activeVersion === policy.version
      ? undefined
      : await store.policies.byVersion(organizationId, activeVersion)
  if (!base) return null
  const difference = describePolicyChanges(JSON.parse(base.document), JSON.parse(policy.document))
  return { version: base.version, source: base.source, ...difference }
}

/** The operators who may approve, and whether each wrote the policy, which rules them out. */
async function approversOf({ installation, organizationId, operator }: OperatorContext<unknown>, policy: StoredPolicy) {
  const operators = await listOperators(installation.storage.control, organizationId)
  const author = operators.find(({ id }) => id === policy.author_id)
  return operators
    .filter((one) => one.disabled_at === null && (holds(one, 'approve policies') || one.id === policy.author_id))
    .map((one) => ({
      id: one.id,
      name: one.name,
      role: one.role,
      is_you: one.id === operator.id,
      may_approve: holds(one, 'approve policies') && !(author && isSamePerson(author, one)),
    }))
}

/** The operations `policies.<verb>`. */
export const policies = {
  list: listPolicies,
  show: showPolicy,
  check: checkDraft,
  'show-language': showPolicyLanguage,
  propose: proposePolicyOperation,
  comment: commentPolicy,
  approve: approvePolicyOperation,
  reject: rejectPolicyOperation,
  activate: activatePolicyOperation,
}
