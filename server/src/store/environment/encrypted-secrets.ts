import type { Database, Row } from '../database/database.ts'

/** A column of a webhook endpoint that is encrypted, bound to its owner. */
interface EncryptedColumn {
  column: string
  /** SQL for the owner that the secret is bound to. */
  owner: string
}

const WEBHOOK_SECRETS: readonly EncryptedColumn[] = [
  { column: 'secret', owner: "org_id || ' ' || id" },
  { column: 'previous_secret', owner: "org_id || ' ' || id" },
  { column: 'url', owner: "org_id || ' ' || id || ' url'" },
]

/**
 * Encrypts the secrets and URLs of an environment's webhook endpoints again. `encryptAgain` returns undefined for one that
 * cannot be decrypted: it is left as it is, and named.
 */
export async function encryptWebhooksAgain(
  database: Database,
  encryptAgain: (owner: string, stored: string) => string | undefined,
): Promise<string[]> {
  const left: string[] = []
  for (const { column, owner } of WEBHOOK_SECRETS) {
    // Removed webhook endpoints keep no secret: their columns are empty.
    const rows = await database.query<Row & { org_id: string; id: string; owner: string; stored: string }>(
      `SELECT org_id, id, ${owner} AS owner, ${column} AS stored FROM webhook_endpoints WHERE ${column} <> ''`,
    )
    for (const { org_id, id, owner: of, stored } of rows) {
      const encrypted = encryptAgain(of, stored)
      if (encrypted === undefined) left.push(`the ${column} of ${org_id} ${id}`)
      else
        await database.query(`UPDATE webhook_endpoints SET ${column} = $3 WHERE org_id = $1 AND id = $2`, [
          ...[org_id, id, encrypted],
        ])
    }
  }
  return left
}
