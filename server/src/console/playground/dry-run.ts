import { conflict, notFound, type Problem } from '../../admin/problem.ts'
import { findEntity } from '../../admin/show-entity.ts'
import { sha256 } from '../../core/canonical-json.ts'
import { graphEvidence } from '../../core/decide/graph-evidence.ts'
import { replayableFacts } from '../../core/decide/replayable-facts.ts'
import { withValues } from '../../core/decide/verdict-track.ts'
import type { Fact, Facts, FactValue } from '../../core/facts/facts.ts'
import { factsFrom } from '../../core/facts/facts-from.ts'
import type { PolicyDocument } from '../../core/policy/policy-document.ts'
import { isObject, parseStored } from '../../core/stored-json.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import { isWithheld } from '../../underwriting/decide-request.ts'
import { type DecisionRequest, factsOf } from '../../underwriting/facts-of.ts'
import { readEntity } from '../../underwriting/read-entity.ts'

/** The facts that a dry run decides from, and whose they are. */
export interface DryFacts {
  facts: Facts
  /** The facts before a what-if changed any. */
  unchanged: Facts
  graph: Record<string, unknown> | null
  entityId: string
  request: DecisionRequest
  decidedAt: string
}

/** A stored policy that a dry run decides under. */
export interface TriedDocument {
  version: string
  document: string
  checksum: string
}

/** Where a dry run reads. */
export interface DryPlace {
  store: EnvironmentStore
  organizationId: string
  now: string
}

/** The facts of an entity as they are now, for a request. */
export async function factsNow(
  { store, organizationId, now }: DryPlace,
  entityId: string,
  request: DecisionRequest,
): Promise<DryFacts> {
  const { id } = await findEntity(store, organizationId, entityId)
  const reading = await readEntity(store, { organizationId, id })
  if (!reading) throw notFound('entity_not_found', 'There is no such entity in this environment.')
  const facts = factsOf(reading, request, { now })
  const graph = isWithheld(facts, 'graph.negative_exposure') ? null : graphEvidence(reading.state.graph)
  return { facts, unchanged: facts, graph, entityId: id, request, decidedAt: now }
}

/** The facts of a persona: an applicant of the policy's own tests. */
export function factsOfPersona({ tests, version }: PolicyDocument, name: string, now: string): DryFacts {
  const test = tests.find((each) => each.name === name)
  if (!test) throw notFound('persona_not_found', `The policy ${version} has no persona “${name}”.`)
  const facts = factsFrom(test.facts, test.age_days, test.missing)
  return { facts, unchanged: facts, graph: null, entityId: '', request: requestOf(facts), decidedAt: now }
}

/** The request of a decision to try, with each part that the facts name. */
function requestOf({ features }: Facts): DecisionRequest {
  const names = ['request.product', 'request.amount', 'request.currency', 'request.term_months']
  const [product, amount, currency, term] = names.map((name) => valueIn(features[name]))
  return {
    product: String(product ?? 'default'),
    ...(typeof amount === 'number' && { requested_amount: amount }),
    ...(typeof currency === 'string' && { currency }),
    ...(typeof term === 'number' && { term_months: term }),
  }
}

/** The facts that a decision recorded, with its request. */
export async function factsOfDecision({ store, organizationId }: DryPlace, decisionId: string): Promise<DryFacts> {
  const recorded = await store.decisions.recorded(organizationId, decisionId)
  if (!recorded) throw notFound('decision_not_found', 'There is no such decision in this environment.')
  const readable = replayableFacts(parseStored(recorded.facts))
  if (!('facts' in readable))
    throw conflict('facts_altered', 'The facts of this decision were altered and cannot be read.')
  const { facts } = readable
  const graph = parseStored(recorded.graph)
  return {
    facts,
    unchanged: facts,
    graph: isObject(graph) ? graph : null,
    entityId: recorded.entity_id,
    request: { ...requestOf(facts), product: recorded.product },
    decidedAt: recorded.created_at,
  }
}

/** Changes the request, or any features, of the facts of a dry run. */
export function changed(dry: DryFacts, values: Readonly<Record<string, FactValue>>): DryFacts {
  return { ...dry, facts: withValues(dry.facts, values) }
}

/** The policy with this version as it is stored; a proposed one too, because a dry run records nothing. */
export async function policyFor(
  { store, organizationId }: DryPlace,
  version: string | undefined,
): Promise<TriedDocument> {
  const stored =
    version === undefined
      ? await store.policies.active(organizationId)
      : await store.policies.byVersion(organizationId, version)
  if (stored) return { version: stored.version, document: stored.document, checksum: stored.checksum }
  throw version === undefined
    ? conflict('version_missing', 'No version is named, and no policy is active here.')
    : notFound('policy_not_found', `There is no policy ${version}.`)
}

/** The document of a stored policy, which is not compiled for it; undefined if it was altered. */
export function readDocument({ document, checksum }: Omit<TriedDocument, 'version'>): PolicyDocument | undefined {
  return sha256(document) === checksum ? (JSON.parse(document) as PolicyDocument) : undefined
}

/** Why a stored policy is not tried. */
export function unusable({ version }: TriedDocument): Problem {
  return conflict(
    'policy_unusable',
    `The policy ${version} cannot be run: its stored document was altered or is not valid.`,
  )
}

function valueIn(fact: Fact | undefined): FactValue | undefined {
  return fact && 'value' in fact ? fact.value : undefined
}
