import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKey } from '../admin/manage-keys.ts'
import { createOrganization } from '../admin/manage-organizations.ts'
import { SCOPES } from '../security/scopes.ts'
import type { Installation } from './installation.ts'

const ACTOR = { type: 'system', id: 'first-start' } as const

/** Creates an organization and a sandbox key, and writes both to `first-run.txt`, readable by its owner only. */
export async function createFirstOrganization(installation: Installation): Promise<string> {
  const { baseUrls, dataDir } = installation.config
  const file = join(dataDir, 'first-run.txt')
  // Fails here if the folder cannot be written, before a key exists that would be lost.
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  writeFileSync(file, '', { mode: 0o600 })
  const organization = await createOrganization(installation, { name: 'First organization', actor: ACTOR })
  const { key } = await createKey(installation, {
    environment: 'sandbox',
    organizationId: organization.id,
    name: 'First key',
    scopes: SCOPES,
    expiresAt: null,
    actor: ACTOR,
  })
  const text = [
    `Organization       ${organization.id}`,
    `Sandbox API        ${baseUrls.sandbox}`,
    `Production API     ${baseUrls.production}`,
    `Console            ${baseUrls.console}`,
    `Sandbox key        ${key}`,
    '',
  ].join('\n')
  writeFileSync(file, text, { mode: 0o600 })
  return text
}
