import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { issueFirstLink } from '../admin/first-link.ts'
import { createKey, revokeKey } from '../admin/manage-keys.ts'
import { prepareOrganization } from '../admin/manage-organizations.ts'
import type { Installation } from '../installation/installation.ts'
import { SCOPES } from '../security/scopes.ts'
import { writeSecretFile } from '../security/secret-file.ts'
import { hasOwner } from '../store/control/first-link.ts'
import { firstOrganizationId, insertOrganization } from '../store/control/organizations.ts'

const ACTOR = { type: 'system', id: 'first-start' } as const

/**
 * Creates an organization with a sandbox key and a link for its first owner, and writes all to `first-run.txt`, readable by its owner only.
 *
 * The organization is inserted last. If the process is killed before, the next start finds no organization and comes
 * here again: it keeps what is written, and replaces a key and a link whose texts may be lost.
 */
export async function createFirstOrganization(installation: Installation): Promise<string> {
  const { config, storage, nowMs } = installation
  const organizationId = await firstOrganizationId(storage.control)
  await prepareOrganization(installation, { organizationId, by: ACTOR, channel: 'service' })
  const key = await replaceKey(installation, organizationId)
  // An operator of an earlier, interrupted start may be the owner already.
  const hasFirstOwner = await hasOwner(storage.control, organizationId)
  const signIn = hasFirstOwner ? [] : [`First sign-in      ${(await issueFirstLink(installation)).link}`]
  const text = [
    `Organization       ${organizationId}`,
    `Sandbox API        ${config.baseUrls.sandbox}`,
    `Production API     ${config.baseUrls.production}`,
    `Console            ${config.baseUrls.console}`,
    `Sandbox key        ${key}`,
    ...signIn,
    '',
  ].join('\n')
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  writeSecretFile(join(config.dataDir, 'first-run.txt'), text)
  const first = { id: organizationId, name: 'First organization', created_at: new Date(nowMs()).toISOString() }
  if (!(await insertOrganization(storage.control, first)))
    throw new Error('another organization is called First organization')
  return text
}

/** Creates the first key, and revokes those of interrupted starts. */
async function replaceKey(installation: Installation, organizationId: string): Promise<string> {
  const act = { organizationId, environment: 'sandbox', by: ACTOR, channel: 'service' } as const
  const earlier = await installation.stores.sandbox.apiKeys.list(organizationId)
  for (const key of earlier.filter(({ revoked_at }) => revoked_at === null)) await revokeKey(installation, act, key.id)
  const { key } = await createKey(installation, act, { name: 'First key', scopes: SCOPES, expiresAt: null })
  return key
}
