import {
  approverOf,
  CONDITION_CHARACTERS_MAX,
  CONDITIONS_MAX,
  decideCase,
  REASON_CHARACTERS_MAX,
  REQUESTS_PER_ACT_MAX,
} from '../../admin/decide-case.ts'
import { addCaseNote, assignCase, caseNotFound, takeNextCase } from '../../admin/manage-cases.ts'
import { holds } from '../../admin/permissions.ts'
import { sendCaseBack, signCase } from '../../admin/sign-case.ts'
import { dayOf } from '../../core/graph/decay.ts'
import { AMOUNT_MAX } from '../../core/money.ts'
import { EXCESS_REASON_CHARACTERS_MIN } from '../../core/review-bounds.ts'
import { Money, NOT_BLANK, Nullable, OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { REVIEW_VERDICTS } from '../../core/vocabularies.ts'
import { listOperators } from '../../store/control/operators.ts'
import { CASE_STATES, CASES_COUNTED_MAX, type CaseHolder } from '../../store/environment/cases.ts'
import { describeCase } from '../cases/describe-case.ts'
import { describeDetail } from '../cases/describe-detail.ts'
import { defineOperation, type OperatorContext } from '../define-operation.ts'

const PAGE_CASES = 25
const HOUR_MS = 3_600_000
const REASON_CHARACTERS_SENT_BACK_MAX = 2_000
const id = Type.String({ minLength: 1, maxLength: 40 })
const Words = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: NOT_BLANK })

/** Lists the cases of the review queue: open ones oldest first, decided ones newest first. */
const listCases = defineOperation({
  summary: 'List the cases of the review queue',
  access: 'see the console',
  input: Strict({
    state: Type.Optional(OneOf(CASE_STATES)),
    holder: Type.Optional(OneOf(['all', 'mine', 'free', 'to_sign'])),
    deadline: Type.Optional(OneOf(['over'])),
    cursor: Type.Optional(id),
  }),
  audit: [],
  async handle(context) {
    const { input, store, organizationId, operator, now, installation } = context
    const { state = 'open', holder = 'all' } = input
    const withinHours = installation.config.reviewWithinHours
    const openedBefore = overdueBefore(now, withinHours)
    const held = holderOf(holder, operator.id)
    const [found, counts, nameOf] = await Promise.all([
      store.cases.page(
        {
          organizationId,
          state,
          holder: held,
          openedBefore: input.deadline && openedBefore,
          after: input.cursor,
          limit: PAGE_CASES + 1,
        },
        dayOf(now),
      ),
      store.cases.counts(organizationId, { operatorId: operator.id, openedBefore }),
      operatorNames(context),
    ])
    const page = found.slice(0, PAGE_CASES)
    const last = page.at(-1)
    const reviewIds = page.flatMap(({ review_id }) => review_id ?? [])
    const keys = await store.reviews.keys(organizationId, reviewIds)
    const cursor = state === 'open' ? last?.id : last?.review_id
    return {
      cases: page.map((row) => describeCase(row, { withinHours, nameOf, keys })),
      counts: { ...counts, is_more: counts.all === CASES_COUNTED_MAX },
      within_hours: withinHours,
      next_cursor: found.length > PAGE_CASES ? cursor! : null,
    }
  },
})

/** Counts the open cases, for the navigation of every page. */
const countCases = defineOperation({
  summary: 'Count the open cases of the review queue',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle({ store, organizationId, operator, now, installation }) {
    const counts = await store.cases.counts(organizationId, {
      operatorId: operator.id,
      openedBefore: overdueBefore(now, installation.config.reviewWithinHours),
    })
    return {
      ...counts,
      is_more: counts.all === CASES_COUNTED_MAX,
      within_hours: installation.config.reviewWithinHours,
    }
  },
})

/** Shows one case with its decisions, notes and earlier reviews. */
const showCase = defineOperation({
  summary: 'Show a case of the review queue',
  access: 'see the console',
  input: Strict({ id }),
  audit: [],
  async handle(context) {
    const { input, store, organizationId, now, installation } = context
    const row = await store.cases.find(organizationId, input.id, dayOf(now))
    if (!row) throw caseNotFound()
    const { control } = installation.storage
    const operators = await listOperators(control, organizationId)
    const nameOf = namesIn(operators)
    const keys = await store.reviews.keys(organizationId, row.review_id === null ? [] : [row.review_id])
    const withinHours = installation.config.reviewWithinHours
    const bounds = await installation.stores.production.reviews.bounds(organizationId)
    return {
      ...describeCase(row, { withinHours, nameOf, keys }),
      ...(await describeDetail(store, row, { nameOf, bounds, now })),
      /** How far a limit may go, how long a reason has to be that says why it goes further, and how many conditions fit. */
      bounds: {
        ...bounds,
        reason_characters_min: EXCESS_REASON_CHARACTERS_MIN,
        conditions_max: CONDITIONS_MAX,
        condition_characters_max: CONDITION_CHARACTERS_MAX,
      },
      /** Up to which amounts people approve. */
      approval_limits: await store.approvals.limits(organizationId),
      /** The operators to whom the case can be given, and who can sign it. */
      reviewers: operators
        .filter((operator) => operator.disabled_at === null && holds(operator, 'review decisions'))
        .map((operator) => ({ name: operator.name, ...approverOf(operator) })),
    }
  },
})

/** Gives a case to an operator, or back to the queue. */
const assignCaseOperation = defineOperation({
  summary: 'Assign a case to an operator, or give it back',
  access: assignCase.permission,
  input: Strict({ id, to: Nullable(id), seen: Nullable(id) }),
  audit: ['case.assigned'],
  async handle({ input, installation, act }) {
    const assigned = await assignCase(installation, act, input)
    return { id: assigned.id, assignee_id: assigned.assignee_id }
  },
})

/** Gives the oldest free case to the operator who asks. */
const takeNext = defineOperation({
  summary: 'Take the oldest case that no operator has',
  access: takeNextCase.permission,
  input: Strict({}),
  audit: ['case.assigned'],
  handle: ({ installation, act }) => takeNextCase(installation, act),
})

/** Adds a note to a case. */
const noteCase = defineOperation({
  summary: 'Add a note to a case',
  access: addCaseNote.permission,
  input: Strict({ id, text: Words(5_000) }),
  audit: ['case.noted'],
  async handle({ input, installation, act }) {
    const note = await addCaseNote(installation, act, input)
    return { id: note.id }
  },
})

/** Decides a case: gives every request of it that waits its verdict and its limit. */
const decideCaseOperation = defineOperation({
  summary: 'Decide a case, each request of it with a verdict and a limit of its own',
  access: decideCase.permission,
  input: Strict({
    id,
    reason: Words(REASON_CHARACTERS_MAX),
    verdicts: Type.Array(
      Strict({
        decision_id: id,
        verdict: OneOf(REVIEW_VERDICTS),
        conditions: Type.Optional(
          Type.Array(Words(CONDITION_CHARACTERS_MAX), { minItems: 1, maxItems: CONDITIONS_MAX }),
        ),
        recommended_limit: Type.Optional(Money({ exclusiveMinimum: 0, maximum: AMOUNT_MAX }, 'In major units.')),
        /** The reviewer was told that the limit is outside of the bounds of the organization, and means it. */
        excess_confirmed: Type.Optional(Type.Boolean()),
      }),
      { minItems: 1, maxItems: REQUESTS_PER_ACT_MAX },
    ),
    /** The same about the limits together. */
    total_confirmed: Type.Optional(Type.Boolean()),
  }),
  audit: ['decision.reviewed', 'decision.offer_replaced', 'case.signature_due'],
  async handle({ input, installation, act }) {
    const done = await decideCase(installation, act, {
      id: input.id,
      isTotalConfirmed: input.total_confirmed,
      verdicts: input.verdicts.map(({ decision_id, recommended_limit, excess_confirmed, ...said }) => ({
        ...said,
        decisionId: decision_id,
        recommendedLimit: recommended_limit,
        isExcessConfirmed: excess_confirmed,
      })),
    })
    // Above the approval limit of the reviewer, there is a first signature instead of reviews.
    if ('signatureId' in done) return { reviews: [], signature_id: done.signatureId }
    return { reviews: done.reviews.map((review) => review.id), signature_id: null }
  },
})

const Signature = { id, signature_id: id }

/** Signs a case as the second person: its requests get the verdicts of the first signature. */
const signCaseOperation = defineOperation({
  summary: 'Sign a case as the second person',
  access: signCase.permission,
  input: Strict(Signature),
  audit: ['case.signed', 'decision.reviewed', 'decision.offer_replaced'],
  async handle({ input, installation, act }) {
    const { reviews } = await signCase(installation, act, { id: input.id, signatureId: input.signature_id })
    return { reviews: reviews.map((review) => review.id) }
  },
})

/** Gives a case that waits for a second signature back to its first signer. */
const sendBackOperation = defineOperation({
  summary: 'Send a signed case back to its first signer, or take the own signature back',
  access: sendCaseBack.permission,
  input: Strict({ ...Signature, reason: Words(REASON_CHARACTERS_SENT_BACK_MAX) }),
  audit: ['case.sent_back', 'case.noted'],
  handle: ({ input, installation, act }) =>
    sendCaseBack(installation, act, { id: input.id, signatureId: input.signature_id }),
})

/** Which cases a value of the filter selects for the operator who asks. */
function holderOf(holder: 'all' | 'mine' | 'free' | 'to_sign', operatorId: string): CaseHolder {
  if (holder === 'mine') return { assigneeId: operatorId }
  return holder === 'to_sign' ? { secondSignerId: operatorId } : holder
}

/** Cases that were opened before this time are past their deadline. */
function overdueBefore(now: string, withinHours: number): string {
  return new Date(Date.parse(now) - withinHours * HOUR_MS).toISOString()
}

async function operatorNames({ installation, organizationId }: OperatorContext<unknown>) {
  return namesIn(await listOperators(installation.storage.control, organizationId))
}

function namesIn(operators: readonly { id: string; name: string }[]): (operatorId: string) => string {
  const names = new Map(operators.map(({ id: operatorId, name }) => [operatorId, name]))
  return (operatorId) => names.get(operatorId) ?? operatorId
}

/** The operations `cases.<verb>`. */
export const cases = {
  list: listCases,
  count: countCases,
  show: showCase,
  assign: assignCaseOperation,
  'take-next': takeNext,
  'add-note': noteCase,
  decide: decideCaseOperation,
  sign: signCaseOperation,
  'send-back': sendBackOperation,
}
