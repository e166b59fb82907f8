import { readFileSync } from 'node:fs'
import { after } from 'node:test'
import { pino } from 'pino'
import { createKey } from '../../src/admin/manage-keys.ts'
import { createOrganization } from '../../src/admin/manage-organizations.ts'
import { ENVIRONMENTS, type Environment, readConfig } from '../../src/config.ts'
import { SCOPES } from '../../src/security/scopes.ts'
import { type Service, startService } from '../../src/service/start-service.ts'
import { activateDocument } from '../../tests/activate-document.ts'
import { byService, SERVICE } from '../../tests/acts.ts'
import { signedInOperator } from '../../tests/console-client.ts'
import { hostilePolicy } from '../../tests/hostile-policy.ts'
import { startServiceProcess } from '../../tests/service-process.ts'
import type { TestService } from '../../tests/test-service.ts'
import { createTestStorage } from '../../tests/test-storage.ts'

/** An organization, a key for each environment, and the cookie of a viewer who is signed in to the console. */
interface Tenant {
  id: string
  keys: Record<Environment, string>
  viewerCookie: string
}

/** A service in its own process that two organizations share. */
interface SharedService {
  /** Its active policy costs as much as a policy may. */
  attacker: Tenant
  victim: Tenant
  origins: Record<Environment | 'console', string>
  rssMb(): number
}

const ANY_PORT = { CONSOLE_PORT: '0', SANDBOX_PORT: '0', PRODUCTION_PORT: '0' }

/** Starts a service for the tests of one file. */
export async function startSharedService(): Promise<SharedService> {
  const storage = await createTestStorage()
  const env = { ...storage.env, RATE_LIMIT_PER_SECOND: '1000000' }
  // The organizations are made by a service in this process, which then makes place for the measured one.
  const preparing = await startService(readConfig({ ...env, ...ANY_PORT }), { logger: pino({ level: 'silent' }) })
  const attacker = await createTenant(preparing, 'Attacker')
  const victim = await createTenant(preparing, 'Victim')
  await activateDocument(preparing.installation, hostilePolicy('hostile-v1'), { organizationId: attacker.id })
  await preparing.close()

  const service = await startServiceProcess(env)
  after(async () => {
    await service.stop()
    await storage.remove()
  })
  const { ports, child } = service
  const at = (port: number) => `http://127.0.0.1:${port}`
  return {
    attacker,
    victim,
    origins: { console: at(ports.console), sandbox: at(ports.sandbox), production: at(ports.production) },
    rssMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024,
  }
}

async function createTenant(service: Service, name: string): Promise<Tenant> {
  const { installation } = service
  const { id: organizationId } = await createOrganization(installation, SERVICE, name)
  const keyFor = async (environment: Environment) => {
    const wanted = { name, scopes: SCOPES, expiresAt: null }
    return [environment, (await createKey(installation, byService(organizationId, environment), wanted)).key] as const
  }
  const keys = Object.fromEntries(await Promise.all(ENVIRONMENTS.map(keyFor))) as Record<Environment, string>
  const email = `viewer@${name.toLowerCase()}.example`
  const viewer = await signedInOperator({ service } as TestService, { organizationId, email, role: 'viewer' })
  return { id: organizationId, keys, viewerCookie: viewer.cookie! }
}
