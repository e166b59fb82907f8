/** A dispatcher for tests on its own database, without the rest of the service; removed after the test file. */
import { after } from 'node:test'
import { addEndpoint, type EndpointWithSecret } from '../src/admin/manage-webhooks.ts'
import { readConfig } from '../src/config.ts'
import { openInstallation } from '../src/installation/installation.ts'
import { WebhookSecretBox } from '../src/security/webhook-secret.ts'
import { Dispatcher, type DispatcherParts } from '../src/webhooks/dispatcher.ts'
import type { ResolveAll } from '../src/webhooks/name-lookup.ts'
import { createSafeAgent } from '../src/webhooks/safe-agent.ts'
import { byService } from './acts.ts'
import { newOrganizationId } from './new-organization.ts'
import { createTestStorage } from './test-storage.ts'

/** An installation where tests write events, add webhook endpoints and start dispatchers. */
export type WebhookPlace = Awaited<ReturnType<ReturnType<typeof webhookPlaces>>>

/**
 * Returns a function that opens an installation with one organization. Without a clock of its own, it is the one of the
 * earlier tests of this file, without their webhook endpoints and dispatchers: opening a database takes longer than most
 * tests. Called outside of tests, because at the end of a test it would close what the next one uses.
 */
export function webhookPlaces() {
  let shared: ReturnType<typeof openInstallationOf> | undefined
  after(async () => (await shared)?.close())
  return async ({ nowMs }: { nowMs?: () => number } = {}) => {
    if (nowMs) {
      const own = await openInstallationOf(nowMs)
      after(own.close)
      return placeOn(own, nowMs)
    }
    shared ??= openInstallationOf(Date.now)
    const opened = await shared
    for (const dispatcher of opened.dispatchers.splice(0)) await dispatcher.close()
    const { sandbox } = opened.installation.storage.environments
    for (const table of ['webhook_attempts', 'webhook_deliveries', 'webhook_endpoints'])
      await sandbox.query(`DELETE FROM ${table}`)
    return placeOn(opened, Date.now)
  }
}

async function openInstallationOf(nowMs: () => number) {
  const storage = await createTestStorage()
  const installation = await openInstallation(readConfig({ ...storage.env, WEBHOOKS_ALLOW_LOOPBACK: 'true' }), {
    nowMs,
  })
  await installation.storage.migrate()
  const dispatchers: Dispatcher[] = []
  const close = async () => {
    for (const dispatcher of dispatchers) await dispatcher.close()
    await installation.close()
    await storage.remove()
  }
  return { installation, dispatchers, close }
}

async function placeOn(
  { installation, dispatchers }: Awaited<ReturnType<typeof openInstallationOf>>,
  nowMs: () => number,
) {
  const store = installation.stores.sandbox
  const newOrganization = () => newOrganizationId(installation)
  const act = byService(await newOrganization())

  return {
    installation,
    store,
    database: installation.storage.environments.sandbox,
    act,
    newOrganization,

    async addEndpoint(url: string, organizationId = act.organizationId): Promise<EndpointWithSecret> {
      const wanted = { url, description: '', eventTypes: ['webhook.test'] }
      return addEndpoint(installation, byService(organizationId), wanted)
    },

    /** Writes events, each of which goes to every webhook endpoint of the organization. */
    async emit(count: number, organizationId = act.organizationId): Promise<string[]> {
      const events = Array.from({ length: count }, () => ({
        id: installation.newId('evt'),
        type: 'webhook.test' as const,
        created_at: new Date(nowMs()).toISOString(),
        data: '{}',
      }))
      await store.commit({ organizationId, rows: { events } })
      return events.map(({ id }) => id)
    },

    startDispatcher({ resolveAll, ...parts }: Partial<DispatcherParts> & { resolveAll?: ResolveAll } = {}): Dispatcher {
      const dispatcher = new Dispatcher({
        rules: { environment: 'sandbox', allowLoopback: true },
        store,
        secrets: new WebhookSecretBox(installation.masterKey.deriveAll('webhook secrets sandbox')),
        agentFor: async (timeoutMs) =>
          createSafeAgent({ allowLoopback: true, timeoutMs, ...(resolveAll && { resolveAll }) }),
        userAgent: 'Verdigraph/test',
        newId: installation.newId,
        nowMs,
        onError: (error) => console.error(error),
        onDisabled: () => {},
        ...parts,
      })
      dispatchers.push(dispatcher)
      dispatcher.start()
      return dispatcher
    },
  }
}
