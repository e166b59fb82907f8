import type { Database } from './database.ts'

/** Takes or keeps a lease on a job; false while another holder's has not run out. */
export async function takeLease(
  database: Database,
  { name, holder, seconds }: { name: string; holder: string; seconds: number },
): Promise<boolean> {
  const rows = await database.query(
    `INSERT INTO leases (name, holder, leased_until) VALUES ($1, $2, now() + make_interval(secs => $3))
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, leased_until = excluded.leased_until
       WHERE leases.holder = excluded.holder OR leases.leased_until <= now()
     RETURNING 1`,
    [name, holder, seconds],
  )
  return rows.length > 0
}

/** Gives a lease back, so that the next node need not wait for it to run out. */
export async function releaseLease(
  database: Database,
  { name, holder }: { name: string; holder: string },
): Promise<void> {
  await database.query('DELETE FROM leases WHERE name = $1 AND holder = $2', [name, holder])
}
