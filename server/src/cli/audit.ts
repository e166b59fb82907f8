import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type LogVerification, verifyAuditLog } from '../audit/verify-audit-log.ts'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import type { Checkpoint } from '../core/audit/checkpoint.ts'
import { keyId } from '../core/audit/checkpoint.ts'
import type { Installation } from '../service/installation.ts'
import { listOrganizations } from '../store/queries/organizations.ts'
import { defineCommand, isProblem, type Problem } from './command.ts'

export const auditVerify = defineCommand<LogVerification[]>({
  name: 'audit verify',
  summary: 'Verify that no entry of an audit log was edited, removed or reordered',
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
      return { problem: '--head needs --org and --environment: a checkpoint belongs to one log' }
    const files: Record<string, string> = {}
    for (const [name, file] of Object.entries({ head, 'public-key': publicKey })) {
      if (file === undefined) continue
      try {
        files[name] = readFileSync(String(file), 'utf8')
      } catch {
        return { problem: `${file} cannot be read: give --${name} the path of a file that you can read` }
      }
    }
    return { ...input, options: { ...input.options, ...files } }
  },
  async run(installation, { options }) {
    const environments = ENVIRONMENTS.filter(
      (name) => options.environment === undefined || name === options.environment,
    )
    if (environments.length === 0)
      return { problem: `--environment must be sandbox or production, not ${JSON.stringify(options.environment)}` }
    const organizations = (await listOrganizations(installation.storage.control)).filter(
      ({ id }) => options.org === undefined || id === options.org,
    )
    if (organizations.length === 0)
      return {
        problem: options.org
          ? `there is no organization with the id ${options.org}: run orgs list to see the ids`
          : 'there is no organization yet: create one with orgs create <name>',
      }
    const pinnedHead = readHead(options.head)
    if (isProblem(pinnedHead)) return pinnedHead

    const verifications: LogVerification[] = []
    for (const environment of environments) {
      const publicKey = readPublicKey(options['public-key'], installation, environment)
      if (isProblem(publicKey)) return publicKey
      for (const { id: organizationId } of organizations) {
        const store = installation.stores[environment]
        verifications.push(
          await verifyAuditLog({
            organizationId,
            environment,
            store,
            publicKeys: [publicKey],
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

export const auditPublicKey = defineCommand<{ environment: Environment; key_id: string; public_key: string }[]>({
  name: 'audit public-key',
  summary: 'Print the public keys that verify the signatures of the audit logs',
  usage: 'audit public-key',
  run: async ({ masterKey }) =>
    ENVIRONMENTS.map((environment) => {
      const { publicKey } = masterKey.auditSigningKey(environment)
      return {
        environment,
        key_id: keyId(publicKey),
        public_key: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      }
    }),
  render: (keys) =>
    keys.map(({ environment, key_id, public_key }) => `${environment} (key ${key_id})\n${public_key}`).join('\n'),
})

function renderVerification({
  organization_id,
  environment,
  intact,
  leaves,
  heads_verified,
  root_hash,
  problems,
}: LogVerification): string {
  const log = `${environment} ${organization_id}`
  if (intact) return `intact    ${log}: ${leaves} entries, ${heads_verified} signed heads, root ${root_hash}`
  return [`TAMPERED  ${log}: ${leaves} entries`, ...problems.map((problem) => `          ${problem}`)].join('\n')
}

function readHead(text: string | boolean | undefined): Checkpoint | undefined | Problem {
  if (text === undefined) return undefined
  try {
    const { tree_size, root_hash, signed_at, key_id, signature } = JSON.parse(String(text))
    return { tree_size, root_hash, signed_at, key_id, signature }
  } catch {
    return {
      problem:
        'the file of --head holds no checkpoint in JSON: save one from an audit trail or an audit.checkpoint event',
    }
  }
}

function readPublicKey(
  text: string | boolean | undefined,
  { masterKey }: Installation,
  environment: Environment,
): KeyObject | Problem {
  if (text === undefined) return masterKey.auditSigningKey(environment).publicKey
  try {
    return createPublicKey(String(text))
  } catch {
    return { problem: 'the file of --public-key holds no public key in PEM format: run audit public-key to print one' }
  }
}
