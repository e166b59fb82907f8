import { decide } from '../../server/src/core/decide/decide.ts'
import type { Facts } from '../../server/src/core/facts/facts.ts'
import { compileStoredPolicy } from '../../server/src/core/policy/compile-policy.ts'
import type { CompiledPolicy } from '../../server/src/core/policy/compiled-policy.ts'
import type { Database, Row } from '../../server/src/store/database/database.ts'

/** Decisions per page; the next page is read while one is decided. */
const PAGE_SIZE = 500

/** The columns of a recorded decision that deciding it again needs. */
interface RecordedRow extends Row {
  id: string
  verdict: string
  policy_checksum: string
  facts: string
}

/**
 * Decides all recorded decisions of an organization again from their facts, each under the policy with its checksum, and
 * returns how many verdicts changed. The next page is read while one is decided, so that the database works in parallel.
 */
export async function redecideAll(
  database: Database,
  organizationId: string,
): Promise<{ decided: number; changed: number }> {
  const policies = new Map<string, CompiledPolicy>()
  let [decided, changed] = [0, 0]
  for (let pending = readPage(database, organizationId, ''); ; ) {
    const page = await pending
    if (page.length === 0) return { decided, changed }
    pending = readPage(database, organizationId, page.at(-1)!.id)
    for (const { verdict, policy_checksum, facts } of page) {
      const policy = policies.get(policy_checksum) ?? (await loadPolicy(database, organizationId, policy_checksum))
      policies.set(policy_checksum, policy)
      if (decide(policy, JSON.parse(facts) as Facts).verdict !== verdict) changed++
    }
    decided += page.length
  }
}

function readPage(database: Database, organizationId: string, after: string): Promise<RecordedRow[]> {
  return database.query<RecordedRow>(
    `SELECT decision.id, decision.verdict, decision.policy_checksum, evidence.facts FROM decisions AS decision
     JOIN decision_evidence AS evidence ON evidence.org_id = decision.org_id AND evidence.decision_id = decision.id
     WHERE decision.org_id = $1 AND decision.id > $2 ORDER BY decision.id LIMIT ${PAGE_SIZE}`,
    [organizationId, after],
  )
}

/** Compiles a stored policy. */
export async function loadPolicy(
  database: Database,
  organizationId: string,
  checksum: string,
): Promise<CompiledPolicy> {
  const [row] = await database.query<{ document: string }>(
    'SELECT document FROM policies WHERE org_id = $1 AND checksum = $2',
    [organizationId, checksum],
  )
  const compiled = compileStoredPolicy({ document: row!.document, checksum })
  if (!('policy' in compiled)) throw new Error(`the recorded policy ${checksum} does not compile`)
  return compiled.policy
}
