import type { InputOf, OutputOf } from '../../api/operation-types.ts'
import type { SearchOf } from '../../components/page-search.ts'

/** What the playground answers. */
export type DryAnswer = OutputOf<'playground.decide'>

/** The result under one policy. */
export type DryResult = DryAnswer['results'][number]

/** A feature that can be changed, with the verdicts along its values. */
export type Slider = DryResult['sliders'][number]

/** Values that a what-if replaces. */
export type Changes = Readonly<Record<string, number>>

/** The input of a dry run. */
export type DryInput = InputOf<'playground.decide'>

/** A request that the organization keeps under a name. */
export type Scenario = OutputOf<'playground.show'>['scenarios'][number]

/** The request of the playground, as it stands in the URL. */
export interface PlaygroundRequest {
  entity: string
  product: string
  amount: string
  currency: string
  /** The months that the applicant chose; empty for the term of the product. */
  term: string
  /** A decision whose recorded facts are used instead of the entity's. */
  decision: string
  /** An applicant of the policy's own tests. */
  persona: string
  /** The policy that is tried, and one to compare it with; the active one if it is empty. */
  a: string
  b: string
}

/** Reads the request of the URL. */
export function requestOf(search: SearchOf<'playground'>): PlaygroundRequest {
  const { entity = '', product = 'personal_loan', amount = '', currency = 'EUR', term = '' } = search
  const { decision = '', persona = '', a = '', b = '' } = search
  return { entity, product, amount, currency, term, decision, persona, a, b }
}

/** The input of a dry run; undefined while the request names nothing to decide about. */
export function dryInput(request: PlaygroundRequest, changes: Changes): DryInput | undefined {
  const { entity, product, decision, persona, a, b } = request
  const versions = [a, b].filter(Boolean)
  const shared = {
    ...(Object.keys(changes).length > 0 && { changes: { ...changes } }),
    ...(versions.length > 0 && { policy_versions: versions }),
  }
  if (decision) return { decision_id: decision, ...shared }
  if (persona) return { persona, ...shared }
  return entity ? { entity_id: entity, product, ...amountOf(request), ...termOf(request), ...shared } : undefined
}

/** The request of a scenario, for the URL; what it changes beside stays out of it. */
export function requestIn({ request }: Scenario): PlaygroundRequest {
  const {
    entity_id = '',
    decision_id = '',
    persona = '',
    requested_amount,
    term_months,
    policy_versions = [],
  } = request
  const { product = 'personal_loan', currency = 'EUR' } = request
  const [a = '', b = ''] = policy_versions
  const amount = requested_amount === undefined ? '' : String(requested_amount)
  const term = term_months === undefined ? '' : String(term_months)
  return { entity: entity_id, product, amount, currency, term, decision: decision_id, persona, a, b }
}

/** The values that a scenario changes by sliders. */
export function changesIn({ request: { changes = {} } }: Scenario): Changes {
  return Object.fromEntries(
    Object.entries(changes).filter((change): change is [string, number] => typeof change[1] === 'number'),
  )
}

/** Whether two dry runs are the same one, in whatever order their fields are. */
export function isSameRequest(a: DryInput, b: DryInput): boolean {
  return writeSorted(a) === writeSorted(b)
}

function writeSorted(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )
}

/** The body of `POST /v1/underwrite` for a request. */
export function bodyOf(request: PlaygroundRequest, entityId: string): Record<string, unknown> {
  return { entity_id: entityId, product: request.product, ...amountOf(request), ...termOf(request) }
}

/** Amount and currency, or neither: without an amount the request is for access. */
export function amountOf({ amount, currency }: PlaygroundRequest): { requested_amount?: number; currency?: string } {
  const value = Number(amount)
  return amount.trim() !== '' && Number.isFinite(value) ? { requested_amount: value, currency } : {}
}

/** The term that the applicant chose, if they did. */
export function termOf({ term }: PlaygroundRequest): { term_months?: number } {
  return MONTHS.test(term) ? { term_months: Number(term) } : {}
}

const MONTHS = /^[1-9]\d{0,2}$/

/** Whether the term that was typed is one, or none. */
export function isTermClear({ term }: PlaygroundRequest): boolean {
  return term === '' || MONTHS.test(term)
}
