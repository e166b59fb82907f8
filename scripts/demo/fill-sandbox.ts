import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { issueFirstLink } from '../../server/src/admin/first-link.ts'
import type { Config } from '../../server/src/config.ts'
import { VERDICTS, type Verdict } from '../../server/src/core/vocabularies.ts'
import { nodeId } from '../../server/src/ids/node-id.ts'
import { writeSecretFile } from '../../server/src/security/secret-file.ts'
import { type Service, startService } from '../../server/src/service/start-service.ts'
import { listOrganizations, type Organization } from '../../server/src/store/control/organizations.ts'
import { isLeasedElsewhere } from '../../server/src/store/leases/lease.ts'
import { ApiClient } from './api-client.ts'
import { HistoryClock } from './history-clock.ts'
import { HISTORY_DAYS, planApplications } from './plan-applications.ts'
import { planEntities } from './plan-entities.ts'
import { applying, type Figures, onboarding, type SampleParts } from './sample-steps.ts'
import {
  addSampleEndpoints,
  addSampleTeam,
  createSampleKeys,
  ENDPOINTS_SINCE_DAYS,
  outagesUntil,
} from './sample-team.ts'
import { type Step, Timeline } from './timeline.ts'
import { WebhookReceivers } from './webhook-receivers.ts'

const DAY_MS = 24 * 3_600_000
const ENTITIES = 300
const DECISIONS = 2_200
/**
 * Groups of entities whose requests are in flight at the same time: the service writes what arrives together in one
 * statement, and a statement with 30 changes takes the embedded database little longer than one with a single change.
 */
const AT_ONCE = 32
/**
 * Steps that are sent together get nearly the same time, so they must be close together where people look first: within a
 * fiftieth of their age. Yesterday's steps are within half an hour, those of the last hour within a minute. Steps of
 * different days are never sent together, so that figures by day are as planned.
 */
const WITHIN_SHARE_OF_AGE = 0.02
const WITHIN_MAX_MS = 8 * 3_600_000

const RETRY_EVERY_MS = 60 * 60_000
const RETRIES_AFTER_MS = DAY_MS / 2
const CONSEQUENCES_MAX_MS = 30_000
const TEST_EVENT_BEFORE_MS = 20 * 3_600_000

/** Why a running service is in the way. */
export const SERVICE_RUNS =
  'the service is running, and the sample needs its database alone, because it writes the days before today'

/** What to write, and where. */
export interface FillOptions {
  seed: number
  /** 1 is some thousands of decisions; the number of entities goes with it. */
  size: number
  /** The end of the history, not in the future. */
  now: number
  /** Adds to a sandbox that has entities already. */
  add: boolean
  logger: Logger
  onProgress(share: number, what: string): void
}

/** What was written. */
export interface FilledSandbox {
  organization: Organization
  figures: Figures
  /** The text of a first start, if this was one. */
  firstRunText: string | undefined
}

/** Why nothing was written. */
export interface FillRefused {
  refused: string
}

/**
 * Fills the sandbox of the first organization with a history of ninety days. It starts the service in this process, with a
 * clock that is moved from step to step, and calls its HTTP API: so every record, audit entry, event and delivery is
 * written as the API would have written it on that day.
 */
export async function fillSandbox(config: Config, options: FillOptions): Promise<FilledSandbox | FillRefused> {
  const { now } = options
  const clock = new HistoryClock(now - (HISTORY_DAYS + 2) * DAY_MS)
  options.onProgress(0, 'starting the service')
  const service = await startService(
    // Any free port, so that requests meant for the installation do not meet a service whose clock is wrong.
    { ...config, ports: { console: 0, sandbox: 0, production: 0 }, webhooksAllowLoopback: true },
    {
      logger: options.logger,
      nowMs: clock.nowMs,
      roles: ['api', 'worker'],
      // Polls often, because a jump of the clock makes deliveries due without a commit.
      webhookTimings: { pollEveryMs: 40, gatherMs: 1 },
    },
  )
  const receivers = new WebhookReceivers({ nowMs: clock.nowMs, outages: outagesUntil(now) })
  try {
    const [organization] = await listOrganizations(service.installation.storage.control)
    const refused = await refusalOf(service, organization!, options)
    if (refused) return { refused }
    const figures = await writeHistory({ service, organization: organization!, clock, receivers, now }, options)
    return { organization: organization!, figures, firstRunText: await renewFirstLink(service) }
  } finally {
    await service.close()
    await receivers.close()
  }
}

/** Replaces the link of a first start, which was dated by the clock of the history and so has expired. */
async function renewFirstLink({ installation, firstRunText }: Service): Promise<string | undefined> {
  // An owner of an earlier, interrupted start needs no link.
  if (!firstRunText?.includes('First sign-in')) return firstRunText
  const renewed = await issueFirstLink(installation)
  const text = firstRunText.replace(/^(First sign-in +).*$/m, `$1${renewed.link}`)
  writeSecretFile(join(installation.config.dataDir, 'first-run.txt'), text)
  return text
}

async function refusalOf(
  { installation }: Service,
  organization: Organization,
  { add, seed }: FillOptions,
): Promise<string | undefined> {
  const store = installation.stores.sandbox
  // On the embedded database the start has refused this case already: its folder belongs to one process.
  if (await isLeasedElsewhere(installation.storage.environments.sandbox, { name: 'sealer', holder: nodeId }))
    return `${SERVICE_RUNS}: stop every node, run npm run demo again, then start them`
  if (!add && (await store.entities.isAny(organization.id)))
    return `the sandbox of ${organization.name} has entities already: pass --add to add the sample to them, or set DATA_DIR to a new folder`
  if (await store.entities.byExternalId({ organizationId: organization.id, externalId: `sample-${seed}-0001` }))
    return `the sample of seed ${seed} is in the sandbox already: pass another --seed`
  return undefined
}

interface Writing {
  service: Service
  organization: Organization
  clock: HistoryClock
  receivers: WebhookReceivers
  /** The end of the history. */
  now: number
}

async function writeHistory(writing: Writing, { seed, size, onProgress }: FillOptions): Promise<Figures> {
  const { service, organization, clock, now } = writing
  const { installation } = service
  const reviewers = await addSampleTeam(installation, organization.id)
  const keys = await createSampleKeys(installation, organization.id)
  const api = new ApiClient(service.urls.sandbox!, keys)
  const parts: SampleParts = {
    seed,
    now,
    api,
    reviewers,
    figures: noFigures(),
    ids: new Map(),
  }
  const entities = planEntities(seed, Math.max(24, Math.round(ENTITIES * size)))
  const plan = planApplications(seed, { entities, count: Math.round(DECISIONS * size), now })
  const timeline = new Timeline()
  timeline.add(plan.entities.map(({ at, entity }) => onboarding(parts, entity, at)))
  timeline.add(plan.applications.map((application) => applying(parts, application)))
  timeline.add([endpointsStep(writing), testEventStep(parts), ...retrySteps(now)])
  const showProgress = () => {
    const share = (clock.nowMs() - (now - (HISTORY_DAYS + 1) * DAY_MS)) / ((HISTORY_DAYS + 1) * DAY_MS)
    const { entities: made, decisions } = parts.figures
    const day = new Date(clock.nowMs()).toISOString().slice(0, 10)
    onProgress(share, `${day}  ${made} entities, ${decisions} decisions`)
  }
  try {
    await play(writing, timeline, { onProgress: showProgress })
  } finally {
    await api.close()
  }
  await consequencesDone(writing)
  return parts.figures
}

/** Waits for the consequence worker, so that what follows from the history is not left to the next start. */
async function consequencesDone({ service, clock, receivers }: Writing): Promise<void> {
  const { sandbox } = service.installation.stores
  for (const end = Date.now() + CONSEQUENCES_MAX_MS; Date.now() < end && (await sandbox.consequences.isAny()); )
    await setTimeout(100)
  await receivers.settle(() => hasDueDeliveries(service, clock))
}

async function hasDueDeliveries({ installation }: Service, clock: HistoryClock): Promise<boolean> {
  return (await installation.stores.sandbox.dispatch.endpointsWithDue(new Date(clock.nowMs()).toISOString())).length > 0
}

/** Runs all steps at their times, and lets the webhook dispatcher finish before the clock moves on. */
async function play(
  { service, clock, receivers, now }: Writing,
  timeline: Timeline,
  { onProgress }: { onProgress: () => void },
): Promise<void> {
  for (let next = timeline.nextAt; next !== undefined; next = timeline.nextAt) {
    const leftOfDayMs = DAY_MS - (next % DAY_MS) - 1
    const withinMs = Math.min((now - next) * WITHIN_SHARE_OF_AGE, WITHIN_MAX_MS, leftOfDayMs)
    const groups = timeline.take({ groupsMax: AT_ONCE, withinMs })
    // The time of the last: what the others send must not lie in the future of the service.
    clock.jumpTo(Math.max(...groups.map((steps) => steps.at(-1)!.at)))
    const following = await Promise.all(groups.map(runInOrder))
    // Added in the order of the groups, not of their answers, so that a seed always gives the same history.
    timeline.add(following.flat().filter(({ at }) => at <= now))
    if (clock.nowMs() > now - ENDPOINTS_SINCE_DAYS * DAY_MS)
      await receivers.settle(() => hasDueDeliveries(service, clock))
    onProgress()
  }
}

async function runInOrder(steps: readonly Step[]): Promise<Step[]> {
  const following: Step[] = []
  for (const step of steps) following.push(...(await step.run()))
  return following
}

function endpointsStep({ service, organization, receivers, now }: Writing): Step {
  return {
    at: now - ENDPOINTS_SINCE_DAYS * DAY_MS,
    group: 'webhooks',
    async run() {
      await addSampleEndpoints(service.installation, { organizationId: organization.id, receivers })
      return []
    },
  }
}

/** A test event while the last outage goes on, as a person would send one. */
function testEventStep({ api, now }: SampleParts): Step {
  return {
    at: now - TEST_EVENT_BEFORE_MS,
    group: 'webhooks',
    async run() {
      await api.post('backend', '/v1/webhook-test', {})
      return []
    },
  }
}

/** Moves the clock through the outages and the half day after them, also at night: the dispatcher then tries again. */
function retrySteps(now: number): Step[] {
  return outagesUntil(now)
    .filter(({ status }) => status !== 410)
    .flatMap(({ from, to }) => {
      const count = Math.floor((Math.min(to + RETRIES_AFTER_MS, now) - from) / RETRY_EVERY_MS)
      return Array.from({ length: count }, (_, index) => ({
        at: from + (index + 1) * RETRY_EVERY_MS,
        group: 'webhooks',
        run: async () => [],
      }))
    })
}

function noFigures(): Figures {
  const verdicts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<Verdict, number>
  return {
    entities: 0,
    identity_links: 0,
    consents: 0,
    transactions: 0,
    feature_snapshots: 0,
    decisions: 0,
    reviews: 0,
    outcomes: 0,
    refused_requests: 0,
    verdicts,
  }
}
