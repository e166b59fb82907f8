import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { invalid, notFound } from '../admin/problem.ts'
import { acceptRestore, type RestoredLog } from '../audit/accept-restore.ts'
import { type LogToVerify, type LogVerification, verifyAuditLog } from '../audit/verify-audit-log.ts'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import type { Checkpoint } from '../core/audit/checkpoint.ts'
import { keyId } from '../core/audit/checkpoint.ts'
import type { Installation } from '../installation/installation.ts'
import { listOrganizations } from '../store/control/organizations.ts'
import { INSTALLATION_LOG } from '../store/power/power-tables.ts'
import { defineCommand, type OnProgress } from './command.ts'
import { osUser } from './os-user.ts'
import { readEnvironments } from './shared-options.ts'

const PROGRESS_EVERY_MS = 2_000

export const auditVerify = defineCommand<LogVerification[]>({
  name: 'audit verify',
  summary: 'Verify that no audit entry, and no record that one speaks of, was edited, removed or reordered',
  usage: 'audit verify [--org <id>] [--environment sandbox|production] [--head <file>] [--public-key <file>]',
  options: {
    org: { type: 'string', description: 'id of one organization; by default all are verified' },
    environment: { type: 'string', description: 'sandbox or production; by default both are verified' },
    head: { type: 'string', description: 'JSON file with a checkpoint that you kept; needs --org and --environment' },
    'public-key': {
      type: 'string',
      description: 'PEM file with the public key to verify with, instead of the key of this installation',
    },
  },
  prepare(input) {
    const { head, 'public-key': publicKey, org, environment } = input.options
    if (head !== undefined && (org === undefined || environment === undefined))
      throw invalid('log_missing', '--head needs --org and --environment: a checkpoint belongs to one log.')
    const files: Record<string, string> = {}
    for (const [name, file] of Object.entries({ head, 'public-key': publicKey })) {
      if (file === undefined) continue
      try {
        files[name] = readFileSync(String(file), 'utf8')
      } catch {
        throw invalid('file_unreadable', `${file} of --${name} cannot be read.`)
      }
    }
    return { ...input, options: { ...input.options, ...files } }
  },
  async run(installation, { options }, onProgress = () => {}) {
    const environments = readEnvironments(options)
    const organizations = (await listOrganizations(installation.storage.control)).filter(
      ({ id }) => options.org === undefined || id === options.org,
    )
    if (organizations.length === 0)
      throw options.org
        ? notFound('organization_not_found', `There is no organization with the id ${options.org}.`)
        : notFound('no_organization', 'There is no organization yet.')
    const pinnedHead = readHead(options.head)

    const verifications: LogVerification[] = []
    for (const environment of environments) {
      const publicKeys = readPublicKeys(options['public-key'], installation, environment)
      const knownHeads = installation.knownHeads[environment]
      knownHeads.reload()
      // An organization that was deleted is still known by its head.
      const known = knownHeads.organizationIds().filter((id) => options.org === undefined || id === options.org)
      const accounts = environment === 'production' && options.org === undefined ? [INSTALLATION_LOG] : []
      for (const organizationId of new Set([...organizations.map(({ id }) => id), ...accounts, ...known])) {
        verifications.push(
          await verifyAuditLog({
            organizationId,
            environment,
            store: installation.stores[environment],
            people: installation.stores.production,
            control: installation.storage.control,
            publicKeys,
            knownHeads,
            nowMs: installation.nowMs,
            onProgress: progressLines(`${environment} ${organizationId}`, onProgress),
            ...(pinnedHead && { pinnedHead }),
          }),
        )
      }
    }
    return verifications
  },
  render: (verifications) => verifications.map(renderVerification).join('\n'),
  isBad: (verifications) => verifications.some(({ intact }) => !intact),
})

export const auditAcceptRestore = defineCommand<RestoredLog[]>({
  name: 'audit accept-restore',
  summary:
    'Accept that audit logs end before heads that this node signed, after a restore or a failover that lost entries',
  usage: 'audit accept-restore --reason <text>',
  options: {
    reason: {
      type: 'string',
      description: 'which backup was restored or which server took over, and why; recorded in the audit logs',
    },
  },
  async run(installation, input) {
    const reason = String(input.options.reason ?? '').trim()
    if (reason === '')
      throw invalid(
        'reason_missing',
        'Add --reason "…" to say which backup was restored, or which server took over: it is recorded in the logs.',
      )
    const accepted: RestoredLog[] = []
    for (const environment of ENVIRONMENTS) {
      const { stores, knownHeads, newId, nowMs } = installation
      accepted.push(
        ...(await acceptRestore({
          environment,
          store: stores[environment],
          knownHeads: knownHeads[environment],
          context: { actor: osUser(input), now: new Date(nowMs()).toISOString(), requestId: null, newId },
          reason,
        })),
      )
    }
    return accepted
  },
  render: (accepted) =>
    accepted.length === 0
      ? 'No log ends before a head that this node signed: there is nothing to accept.'
      : accepted
          .map(
            ({ environment, organization_id, tree_size, lost_tree_size }) =>
              `${environment} ${organization_id}: goes on from ${tree_size} entries; ${lost_tree_size - tree_size} signed entries are lost.`,
          )
          .join('\n'),
})

/** A public key that verifies logs of an environment; a retired one verifies what was signed before a rotation. */
interface PublicKeyOfLogs {
  environment: Environment
  key_id: string
  is_retired: boolean
  public_key: string
}

export const auditPublicKey = defineCommand<PublicKeyOfLogs[]>({
  name: 'audit public-key',
  summary: 'Print the public keys that verify the signatures of the audit logs',
  usage: 'audit public-key',
  run: async ({ masterKey }) =>
    ENVIRONMENTS.flatMap((environment) =>
      masterKey.auditPublicKeys(environment).map((publicKey, n) => ({
        environment,
        key_id: keyId(publicKey),
        is_retired: n > 0,
        public_key: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      })),
    ),
  render: (keys) =>
    keys
      .map(
        ({ environment, key_id, is_retired, public_key }) =>
          `${environment} (key ${key_id}${is_retired ? ', retired' : ''})\n${public_key}`,
      )
      .join('\n'),
})

/** Reports at most every two seconds, and nothing about a log that takes less. */
function progressLines(log: string, onProgress: OnProgress): NonNullable<LogToVerify['onProgress']> {
  let nextAtMs = performance.now() + PROGRESS_EVERY_MS
  return ({ leaves, size }) => {
    if (performance.now() < nextAtMs) return
    nextAtMs = performance.now() + PROGRESS_EVERY_MS
    onProgress(`verifying ${log}: ${leaves} of ${size} entries`)
  }
}

function renderVerification(verification: LogVerification): string {
  const { organization_id, environment, intact, lost_after, leaves, unsealed, problems } = verification
  const log = `${environment} ${organization_id}`
  if (!intact)
    return [
      `${lost_after === null ? 'TAMPERED' : 'LOST    '}  ${log}: ${leaves} entries`,
      ...problems.map((problem) => `          ${problem}`),
    ].join('\n')
  const { heads_verified, records_compared, records_erased, known_head, root_hash } = verification
  const waiting = unsealed > 0 ? `, ${unsealed} not sealed yet` : ''
  const erased = records_erased > 0 ? ` (${records_erased} erased)` : ''
  const known = known_head
    ? `newest known head ${known_head.tree_size} of ${known_head.signed_at}`
    : 'no head known outside the database'
  return `intact    ${log}: ${leaves} entries${waiting}, ${records_compared} records${erased}, ${heads_verified} signed heads, ${known}, root ${root_hash}`
}

function readHead(text: string | boolean | undefined): Checkpoint | undefined {
  if (text === undefined) return undefined
  try {
    const { tree_size, root_hash, signed_at, key_id, signature } = JSON.parse(String(text))
    return { tree_size, root_hash, signed_at, key_id, signature }
  } catch {
    throw invalid('checkpoint_malformed', 'The file of --head holds no checkpoint in JSON.')
  }
}

function readPublicKeys(
  text: string | boolean | undefined,
  { masterKey }: Installation,
  environment: Environment,
): KeyObject[] {
  if (text === undefined) return masterKey.auditPublicKeys(environment)
  try {
    return [createPublicKey(String(text))]
  } catch {
    throw invalid('public_key_malformed', 'The file of --public-key holds no public key in PEM format.')
  }
}
