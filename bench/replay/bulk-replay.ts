import { decide } from '../../server/src/core/decide/decide.ts'
import type { Facts } from '../../server/src/core/facts/facts.ts'
import { compilePolicy } from '../../server/src/core/policy/compile-policy.ts'
import type { CompiledPolicy } from '../../server/src/core/policy/compiled-policy.ts'
import type { PolicyDocument } from '../../server/src/core/policy/policy-document.ts'
import type { Database, Row } from '../../server/src/store/database/database.ts'

/** As much as deciding a page of them lasts is read meanwhile. */
const PAGE = 500

/** A recorded decision, as far as deciding it again needs it. */
interface RecordedRow extends Row {
  id: string
  verdict: string
  policy_checksum: string
  facts: string
}

/**
 * Decides a whole history again from its recorded facts, each under the policy of its own checksum, and returns how many
 * came out otherwise. The next page is read while one is decided, so the database works at the same time.
 */
export async function redecideAll(
  database: Database,
  organizationId: string,
): Promise<{ decided: number; turned: number }> {
  const policies = new Map<string, CompiledPolicy>()
  let [decided, turned] = [0, 0]
  for (let pending = readPage(database, organizationId, ''); ; ) {
    const page = await pending
    if (page.length === 0) return { decided, turned }
    pending = readPage(database, organizationId, page.at(-1)!.id)
    for (const { verdict, policy_checksum, facts } of page) {
      const policy =
        policies.get(policy_checksum) ?? (await loadPolicy(database, { organizationId, policy_checksum, policies }))
      if (decide(policy, JSON.parse(facts) as Facts).verdict !== verdict) turned++
    }
    decided += page.length
  }
}

function readPage(database: Database, organizationId: string, after: string): Promise<RecordedRow[]> {
  return database.query<RecordedRow>(
    `SELECT decision.id, decision.verdict, decision.policy_checksum, evidence.facts FROM decisions AS decision
     JOIN decision_evidence AS evidence ON evidence.org_id = decision.org_id AND evidence.decision_id = decision.id
     WHERE decision.org_id = $1 AND decision.id > $2 ORDER BY decision.id LIMIT ${PAGE}`,
    [organizationId, after],
  )
}

async function loadPolicy(
  database: Database,
  {
    organizationId,
    policy_checksum,
    policies,
  }: { organizationId: string; policy_checksum: string; policies: Map<string, CompiledPolicy> },
): Promise<CompiledPolicy> {
  const [row] = await database.query<{ document: string }>(
    'SELECT document FROM policies WHERE org_id = $1 AND checksum = $2',
    [organizationId, policy_checksum],
  )
  const compiled = compilePolicy(JSON.parse(row!.document) as PolicyDocument)
  if (!('policy' in compiled)) throw new Error('the recorded policy does not compile')
  policies.set(policy_checksum, compiled.policy)
  return compiled.policy
}
