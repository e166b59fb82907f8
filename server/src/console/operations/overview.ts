import { OneOf, Strict } from '../../core/schema/fields.ts'
import { listOperators } from '../../store/control/operators.ts'
import { defineOperation } from '../define-operation.ts'
import { decisionFigures, RANGES } from '../figures/decision-figures.ts'
import { newestDecisions } from '../figures/newest-decisions.ts'
import { waitingFigures } from '../figures/waiting-figures.ts'
import { webhookFigures } from '../figures/webhook-figures.ts'

const DECISIONS_LISTED = 8

/** Reads the figures of the overview. */
const readOverview = defineOperation({
  summary: 'Figures of the last day, week or month, and the newest decisions',
  access: 'see the console',
  input: Strict({ range: OneOf(RANGES) }),
  audit: [],
  async handle({ input: { range }, organizationId, store, now }) {
    const figures = await decisionFigures(store, { organizationId, range, now })
    return {
      ...figures,
      waiting: await waitingFigures(store, organizationId, now),
      webhooks: await webhookFigures(store, organizationId, figures.points[0]!.at),
      newest: await newestDecisions(store, organizationId, DECISIONS_LISTED),
    }
  },
})

/** Reads which of the first steps an organization has taken in an environment. */
const readFirstSteps = defineOperation({
  summary: 'The first steps that an organization has taken: key, entity, decision, webhook endpoint, teammate',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle({ organizationId, environment, store, installation }) {
    const uses = await store.overview.firstUses(organizationId)
    const operators = await listOperators(installation.storage.control, organizationId)
    const endpoints = await store.webhooks.endpoints(organizationId)
    return {
      key_used: uses.has_used_key,
      entity_created: uses.has_entity,
      decided: uses.has_decision,
      endpoint_added: endpoints.length > 0,
      endpoint_answered: uses.has_delivery,
      /** Where the API is, for the examples beside the steps. */
      base_url: installation.config.baseUrls[environment],
      teammate_added: operators.filter(({ disabled_at }) => disabled_at === null).length > 1,
    }
  },
})

/** The operations `overview.<verb>`. */
export const overview = {
  show: readOverview,
  'show-first-steps': readFirstSteps,
}
