import type { OutcomeType, Verdict } from '../../server/src/core/vocabularies.ts'
import { DATA_CATEGORIES } from '../../server/src/core/vocabularies.ts'
import type { ApiClient } from './api-client.ts'
import { CONDITIONAL_APPROVALS, REVIEW_REASONS } from './names.ts'
import { type Application, NIGHTLY_MS } from './plan-applications.ts'
import type { PlannedEntity } from './plan-entities.ts'
import { planTransactions } from './plan-transactions.ts'
import { type Random, randomOf } from './random.ts'
import type { Reviewer } from './sample-team.ts'
import type { Step } from './timeline.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const TRANSACTIONS_PER_REQUEST = 1_000
/** Reviews of the last days are partly still to be done, so that the review queue is not empty. */
const QUEUE_MS = 3 * DAY_MS

/** What has been written so far. */
export interface Figures {
  entities: number
  identity_links: number
  consents: number
  transactions: number
  feature_snapshots: number
  decisions: number
  reviews: number
  outcomes: number
  refused_requests: number
  verdicts: Record<Verdict, number>
}

/** What the steps need. */
export interface SampleParts {
  seed: number
  /** The end of the history. */
  now: number
  api: ApiClient
  reviewers: readonly Reviewer[]
  figures: Figures
  /** The ids of the entities that exist, by their index in the plan. */
  ids: Map<number, string>
}

interface Decided {
  id: string
  verdict: Verdict
  recommended_limit?: number
  created_at: string
}

/** Creates an entity with its identifiers, relationships, consents, account and features. */
export function onboarding(parts: SampleParts, entity: PlannedEntity, at: number): Step {
  const { api, figures, ids } = parts
  const { persona, country, externalId, group } = entity
  return {
    at,
    group,
    async run() {
      const fields = { type: persona.type, display_name: entity.displayName, country: country.code }
      const metadata = { sample: 'yes', segment: persona.id }
      const { id } = await api.post<{ id: string }>('backend', '/v1/entities', {
        body: { external_id: externalId, ...fields, metadata },
      })
      ids.set(entity.index, id)
      figures.entities++
      // Together, so that the service refreshes the exposures of all links at once.
      await Promise.all([
        ...linkIdentity(parts, entity, { id, at }),
        ...giveConsents(parts, entity, id),
        ingest(parts, entity, { id, from: at, to: at, onboardedAt: at }),
        snapshotFeatures(parts, entity, { id, at }),
      ])
      return statements(parts, entity, at)
    },
  }
}

function linkIdentity(
  { api, figures, ids }: SampleParts,
  { identifiers, related, country }: PlannedEntity,
  { id, at }: { id: string; at: number },
): Promise<void>[] {
  const link = async (body: object) => {
    await api.post('backend', `/v1/entities/${id}/identity-links`, { body })
    figures.identity_links++
  }
  const byIdentifier = identifiers.map(({ type, value, status }) => {
    const method = type === 'email' || type === 'phone' ? 'code' : 'document'
    const verification = status === 'verified' ? { status, method, verified_at: isoTime(at - HOUR_MS) } : { status }
    return link({ identifier: { type, value, issuer: country.code }, verification })
  })
  const byRelationship = related.map(({ to, relationship, share }) => {
    const verification = { status: 'verified', method: 'registry', verified_at: isoTime(at - HOUR_MS) }
    const edge = { related_entity_id: ids.get(to.index), relationship, ...(share && { ownership_share: share }) }
    return link({ ...edge, verification })
  })
  return [...byIdentifier, ...byRelationship]
}

function giveConsents({ api, figures }: SampleParts, { persona, externalId }: PlannedEntity, id: string) {
  return persona.consents.map(async (purpose) => {
    const evidence = { method: 'in_app', reference: `consent/${externalId}` }
    const body = { purpose, data_categories: [...DATA_CATEGORIES], evidence }
    await api.post('backend', `/v1/entities/${id}/consents`, { body })
    figures.consents++
  })
}

async function snapshotFeatures(
  { api, figures, seed }: SampleParts,
  { index, persona: { features } }: PlannedEntity,
  { id, at }: { id: string; at: number },
): Promise<void> {
  if (!features) return
  const random = randomOf('features', seed, index)
  const values = Object.entries(features.values).map(([name, range]) => [name, random.whole(...range)])
  const body = {
    source: features.source,
    as_of: new Date(at - DAY_MS).toISOString(),
    features: Object.fromEntries(values),
  }
  await api.post('backend', `/v1/entities/${id}/feature-snapshots`, { body })
  figures.feature_snapshots++
}

/** Sends the part of the statement that is new, a thousand transactions at a time. */
async function ingest(
  { api, figures, seed }: SampleParts,
  entity: PlannedEntity,
  { id, from, to, onboardedAt }: { id: string; from: number; to: number; onboardedAt: number },
): Promise<void> {
  const statement = planTransactions(entity, { seed, from: onboardedAt, to })
  const isFirst = from === onboardedAt
  const rows = isFirst ? statement : statement.filter(({ occurred_at }) => Date.parse(occurred_at) > from)
  for (let start = 0; start < rows.length; start += TRANSACTIONS_PER_REQUEST) {
    const transactions = rows.slice(start, start + TRANSACTIONS_PER_REQUEST)
    const once = `${entity.externalId}-statement-${isoTime(to).slice(0, 10)}-${start}`
    await api.post('backend', `/v1/entities/${id}/transactions`, { body: { transactions }, once })
    figures.transactions += transactions.length
  }
}

/** New statements of the account, every five to eight weeks; not of all accounts on the same day. */
function statements(parts: SampleParts, entity: PlannedEntity, onboardedAt: number): Step[] {
  const steps: Step[] = []
  if (!entity.persona.account) return steps
  const everyMs = randomOf('statements', parts.seed, entity.index).whole(35, 56) * DAY_MS
  for (let from = onboardedAt; from + everyMs < parts.now; from += everyMs) {
    const at = from + everyMs
    steps.push({
      at,
      group: entity.group,
      run: async () => {
        await ingest(parts, entity, { id: parts.ids.get(entity.index)!, from: at - everyMs, to: at, onboardedAt })
        return []
      },
    })
  }
  return steps
}

/** Asks for a decision; a review and outcomes follow as the persona's risk says. */
export function applying(parts: SampleParts, { at, entity, number, amount }: Application): Step {
  const { api, figures, ids, seed } = parts
  const random = randomOf('decision', seed, number)
  return {
    at,
    group: entity.group,
    async run() {
      const once = `sample-${seed}-application-${number}`
      const money = amount === undefined ? {} : { requested_amount: amount, currency: entity.country.currency }
      const body = { entity_id: ids.get(entity.index), product: entity.persona.product, ...money }
      if (random.chance(0.02)) await makeMistake(parts, random)
      const decided = await api.post<Decided>('backend', '/v1/underwrite', { body, once })
      figures.decisions++
      figures.verdicts[decided.verdict]++
      if (random.chance(0.05)) await api.send('analytics', 'GET', `/v1/decisions/${decided.id}/replay`)
      const credit = { entity, decided, amount: Math.min(amount ?? 0, decided.recommended_limit ?? amount ?? 0) }
      if (decided.verdict === 'manual_review') return reviewing(parts, { at, ...credit }, random)
      if (random.chance(0.012)) return reviewing(parts, { at, ...credit }, random)
      return decided.verdict === 'decline' ? [] : outcomesOf(parts, { at, ...credit }, random)
    },
  }
}

interface Credit {
  at: number
  entity: PlannedEntity
  decided: Decided
  amount: number
}

/** Requests that fail, as every integration sends some: an unknown entity, an amount without currency, a wrong scope. */
async function makeMistake({ api, figures }: SampleParts, random: Random): Promise<void> {
  const mistake = random.whole(0, 2)
  if (mistake === 0) await api.send('backend', 'GET', '/v1/entities/ent_00000000000000000000000000')
  else if (mistake === 1)
    await api.send('backend', 'POST', '/v1/underwrite', {
      body: { entity_id: 'ent_00000000000000000000000000', product: 'personal_loan', requested_amount: 100 },
      once: `mistake-${random.next()}`,
    })
  else await api.send('analytics', 'POST', '/v1/entities', { body: { external_id: 'sample-wrong-key' } })
  figures.refused_requests++
}

/** A reviewer settles the case within a working day; of the newest cases only some are done. */
function reviewing(parts: SampleParts, credit: Credit, random: Random): Step[] {
  const { api, figures, reviewers, now } = parts
  const at = workingTime(credit.at + random.whole(1, 22) * HOUR_MS, random)
  const isDone = now - credit.at > QUEUE_MS || random.chance(0.5)
  if (!isDone) return []
  const verdict = random.weighted(['approve', 'approve_with_conditions', 'decline'] as const, (one) =>
    one === 'approve' ? 5 : one === 'decline' ? 3 : 2,
  )
  const limit = Math.round((credit.amount * (verdict === 'approve' ? 1 : 0.5)) / 100) * 100
  return [
    {
      at,
      group: credit.entity.group,
      async run() {
        const body = {
          verdict,
          reviewer: random.pick(reviewers),
          ...reviewReason(verdict, random),
          ...(verdict !== 'decline' && limit > 0 && { recommended_limit: limit }),
        }
        await api.post('cases', `/v1/decisions/${credit.decided.id}/reviews`, { body })
        figures.reviews++
        return verdict === 'decline' ? [] : outcomesOf(parts, { ...credit, at, amount: limit }, random)
      },
    },
  ]
}

/** Why a reviewer reached a verdict, and the condition of a conditional one. */
function reviewReason(verdict: 'approve' | 'approve_with_conditions' | 'decline', random: Random) {
  if (verdict !== 'approve_with_conditions') return { reason: random.pick(REVIEW_REASONS[verdict]) }
  const { reason, condition } = random.pick(CONDITIONAL_APPROVALS)
  return { reason, conditions: [condition] }
}

/** What happens after an approval: money is paid out and comes back, late or not at all; access is used or abused. */
function outcomesOf(parts: SampleParts, credit: Credit, random: Random): Step[] {
  const { persona, ring } = credit.entity
  if (ring === 'first' || random.chance(persona.risk.fraud ?? 0)) {
    const isCredit = credit.amount > 0
    return [outcome(parts, credit, { type: isCredit ? 'fraud_confirmed' : 'access_abused', days: random.whole(6, 15) })]
  }
  // Not every offer is taken.
  if (credit.amount === 0 || random.chance(0.3)) return []
  const steps = [outcome(parts, credit, { type: 'funded', days: 1, hasAmount: true })]
  const termDays = persona.type === 'person' ? random.whole(50, 120) : random.whole(18, 40)
  const lateDays = random.chance(persona.risk.late) ? random.whole(9, 35) : 0
  const isLost = random.chance(persona.risk.default)
  if (isLost)
    return [
      ...steps.slice(0, 1),
      outcome(parts, credit, { type: 'late', days: 32, daysPastDue: 30 }),
      outcome(parts, credit, { type: 'default', days: random.whole(40, 62), daysPastDue: 60 }),
    ]
  if (lateDays > 0)
    steps.push(outcome(parts, credit, { type: 'late', days: termDays + lateDays - 1, daysPastDue: lateDays }))
  steps.push(outcome(parts, credit, { type: 'repaid', days: termDays + lateDays, hasAmount: true }))
  return steps
}

/** The nightly job of loan servicing reports an outcome. */
function outcome(
  { api, figures }: SampleParts,
  { at, entity, decided, amount }: Credit,
  {
    type,
    days,
    daysPastDue,
    hasAmount,
  }: { type: OutcomeType; days: number; daysPastDue?: number; hasAmount?: boolean },
): Step {
  const night = Math.floor(at / DAY_MS + days) * DAY_MS + NIGHTLY_MS + (decided.id.charCodeAt(12) % 20) * 60_000
  return {
    at: night,
    group: entity.group,
    async run() {
      const body = {
        type,
        occurred_at: isoTime(timeOfOutcome(night, decided)),
        ...(daysPastDue && { days_past_due: daysPastDue }),
        ...(hasAmount && { amount, currency: entity.country.currency }),
      }
      await api.post('servicing', `/v1/decisions/${decided.id}/outcomes`, { body })
      figures.outcomes++
      return []
    },
  }
}

/** What a nightly job reports happened some hours before, but not before its decision, which may be of the same night. */
export function timeOfOutcome(night: number, { created_at }: Pick<Decided, 'created_at'>): number {
  return Math.max(night - 3 * HOUR_MS, Date.parse(created_at))
}

/** The next moment at which reviewers work: from 7 to 17 o'clock UTC, Monday to Friday. */
function workingTime(at: number, random: Random): number {
  let time = at
  while (![1, 2, 3, 4, 5].includes(new Date(time).getUTCDay()) || hourOf(time) < 7 || hourOf(time) >= 17) {
    const nextDay = Math.floor(time / DAY_MS) * DAY_MS + (hourOf(time) < 7 ? 0 : DAY_MS)
    time = nextDay + 7 * HOUR_MS + Math.floor(random.next() * 3 * HOUR_MS)
  }
  return time
}

const hourOf = (ms: number) => new Date(ms).getUTCHours()
const isoTime = (ms: number) => new Date(ms).toISOString()
