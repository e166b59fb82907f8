import type { Queryable, Row } from '../database/database.ts'
import type { ControlDatabase } from '../power/control-database.ts'
import type { Seal } from '../power/row-mac.ts'

/** The link that makes the first owner, as it is stored. */
export interface StoredFirstLink {
  token_hash: string
  expires_at: string
}

/** SQL: whether an organization has an owner. */
const HAS_OWNER = `EXISTS (SELECT 1 FROM operators WHERE org_id = $1 AND role = 'owner' AND disabled_at IS NULL)`

/** Whether an organization has an owner, so that no link makes a first one any more. */
export async function hasOwner(control: Queryable, organizationId: string): Promise<boolean> {
  const [row] = await control.query<{ has_owner: boolean }>(`SELECT ${HAS_OWNER} AS has_owner`, [organizationId])
  return row!.has_owner
}

/** Stores the link that makes the first owner, in place of any earlier one. */
export async function replaceFirstLink(control: Queryable, link: StoredFirstLink & Seal): Promise<void> {
  await control.query(
    `INSERT INTO first_link (token_hash, expires_at, entry_id, mac) VALUES ($1, $2, $3, $4)
     ON CONFLICT (id) DO UPDATE SET token_hash = excluded.token_hash, expires_at = excluded.expires_at,
       entry_id = excluded.entry_id, mac = excluded.mac`,
    [link.token_hash, link.expires_at, link.entry_id, link.mac],
  )
}

/** When the link that makes the first owner expires; undefined if this is not the link, or it has expired. */
export async function firstLinkExpiry(
  control: ControlDatabase,
  { tokenHash, now }: { tokenHash: string; now: string },
): Promise<string | undefined> {
  const [link] = await control.genuine('first_link', () =>
    control.query<StoredFirstLink & Row>(
      'SELECT token_hash, expires_at, entry_id, mac FROM first_link WHERE token_hash = $1 AND expires_at > $2',
      [tokenHash, now],
    ),
  )
  return link?.expires_at
}

/** Deletes the first link; false if it was used or replaced, or the organization has an owner. */
export async function takeFirstLink(
  control: Queryable,
  { organizationId, tokenHash, now }: { organizationId: string; tokenHash: string; now: string },
): Promise<boolean> {
  const taken = await control.query(
    `DELETE FROM first_link WHERE token_hash = $2 AND expires_at > $3 AND NOT ${HAS_OWNER} RETURNING 1`,
    [organizationId, tokenHash, now],
  )
  return taken.length === 1
}
